// A driver of CUDA 13.0, as far as it is asked which one it is.
extern "C" int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
