// recorder - records RANGES ranges in a session of its own, and stops dead in
// the middle of it. So whatever it takes, it takes for starting and recording:
//
//   recorder RANGES
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kymo/profile.h"
#include "kymo/record_function.h"

int main(int argc, char** argv) {
  const int ranges = argc > 1 ? atoi(argv[1]) : 1;
  kymo::Profile profile;
  if (!profile.Start().ok()) return 1;
  for (int i = 0; i < ranges; ++i) {
    kymo::RecordFunction range("step");
  }
  _exit(0);
}
