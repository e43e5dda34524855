#define HEADER <dnn/hb_dnn.h>
#define PACK hbPackedDNNHandle_t
#define MODEL_INVALID (-6000002)
#define NO_FILE (-6000006)
#include "converted_hb.h"

/* The functions that register layers have C++ names, which functions.h leaves out. */
void register_layer(void) __asm__("_Z25hbDNNRegisterLayerCreatorPKcPFPN5hobot3dnn5LayerEvE");
void unregister_layer(void) __asm__("_Z27hbDNNUnregisterLayerCreatorPKc");
void register_layer(void) { }
void unregister_layer(void) { }
