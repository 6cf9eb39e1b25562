// A library that annotates what it does, with the packages' archive: all names
// of its copy of Kymo are local.
extern "C" void kymo_push(const char* name);  // kymo/annotate.h
extern "C" void kymo_pop();

// Returns the range's name.
extern "C" __attribute__((visibility("default"))) const char* Annotated() {
  kymo_push(KYMO_RANGE_OF_LIBRARY);
  kymo_pop();
  return KYMO_RANGE_OF_LIBRARY;
}
