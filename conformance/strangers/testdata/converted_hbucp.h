#define HEADER <hobot/dnn/hb_dnn.h>
#define PACK hbDNNPackedHandle_t
#define MODEL_INVALID (-600002)
#define NO_FILE (-500001)
#include "converted_hb.h"
