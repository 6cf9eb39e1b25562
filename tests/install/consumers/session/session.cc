// session.cc - a program that records itself and its libraries.
//
//   session TRACE_FILE
#include <iostream>

#include "kymo/annotate.h"
#include "kymo/load_trace.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"

void Work();                    // work.cc
extern "C" void LibraryWork();  // library.c

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  kymo::Profile profile({.record_shapes = true, .with_stack = true});
  absl::Status status = profile.Start();
  for (int i = 0; i < 3; ++i) {
    KYMO_RECORD_FUNCTION("step");
    kymo_push("in C");
    Work();
    LibraryWork();
    kymo_pop();
  }
  status.Update(profile.Stop());
  status.Update(profile.export_chrome_trace(argv[1]));
  const absl::StatusOr<kymo::SavedTrace> saved = kymo::LoadTrace({argv[1]});
  if (saved.ok()) {
    std::cout << saved->profile->key_averages().table({.sort_by = "count"});
  }
  status.Update(saved.status());
  std::cout << status << "\n";
  return status.ok() ? 0 : 1;
}
