/* NVIDIA's headers as a library that exports their functions. */
#define NVTX_EXPORT_API
#include <nvtx3/nvToolsExt.h>
