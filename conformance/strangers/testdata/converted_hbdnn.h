#define HEADER <dnn/hb_dnn.h>
#define PACK hbPackedDNNHandle_t
#define MODEL_INVALID (-6000002)
#define NO_FILE (-6000006)
#include "converted_hb.h"
