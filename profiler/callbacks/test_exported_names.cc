// A library that holds a copy of Kymo.
#include "kymo/record_function.h"

extern "C" __attribute__((visibility("default"))) void Annotated() {
  KYMO_RECORD_FUNCTION("annotated");
}
