// A library that annotates what it does.
#include "kymo/record_function.h"

// Returns the range's name.
extern "C" __attribute__((visibility("default"))) const char* Annotated() {
  kymo::RecordFunction range(KYMO_RANGE_OF_LIBRARY);
  return KYMO_RANGE_OF_LIBRARY;
}
