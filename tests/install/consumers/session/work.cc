// work.cc - a shared library that annotates itself.
#include "kymo/record_function.h"

void Work() { KYMO_RECORD_FUNCTION("work"); }
