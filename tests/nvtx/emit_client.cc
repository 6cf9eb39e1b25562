// A program whose operations are emitted: to ITT, or with the argument `nvtx`
// to NVTX.
#include <stdio.h>
#include <string.h>

#include "kymo/emit_itt.h"
#include "kymo/emit_nvtx.h"
#include "kymo/record_function.h"

namespace {

void Work() {
  kymo::RecordFunction outer("outer");
  kymo::RecordFunction inner("inner", {.sequence_nr = 4});
}

template <typename Emit>
int EmitWork() {
  Emit emit;
  absl::Status status = emit.Start();
  if (emit.Start().ok()) return 1;
  puts(std::string(emit.Start().message()).c_str());
  Work();
  status.Update(emit.Stop());
  Work();  // unheard
  return status.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "nvtx") == 0) {
    return EmitWork<kymo::EmitNvtx>();
  }
  return EmitWork<kymo::EmitItt>();
}
