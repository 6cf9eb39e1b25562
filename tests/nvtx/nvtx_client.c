/* A C program that is annotated with NVIDIA's headers and knows nothing of
 * Kymo. Prints what the functions return. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

int main(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
  nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "factorise");
  nvtxEventAttributes_t event = {0};
  nvtxRangeId_t id = nvtxRangeStartA("everything");
  int step;
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  nvtxNameOsThreadA(0, "nobody");
  for (step = 0; step < 3; ++step) {
    printf("%d ", nvtxRangePushA("step"));
    printf("%d ", nvtxDomainRangePushEx(domain, &event));
    printf("%d ", nvtxDomainRangePop(domain));
    printf("%d\n", nvtxRangePop());
  }
  nvtxRangeEnd(id);
  nvtxRangePop();
  nvtxRangePushA("open at exit");
  return 0;
}
