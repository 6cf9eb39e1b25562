// A long job of which only some steps are recorded: PyTorch's schedule with
// on_trace_ready, in C++.
//
//   bazel run //examples:schedule -- /tmp/log
//   tensorboard --logdir /tmp/log        # with the plugin torch-tb-profiler
//
// It runs twelve steps. It skips the first one. Then, twice, it waits for one
// step, warms up in one and records three. Each of these two cycles becomes a
// trace in the folder.

#include <cstdlib>
#include <iostream>
#include <random>

#include "examples/tensor/tensor.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/schedule.h"

namespace {

using tensor::Tensor;

constexpr int kSteps = 12;

int Fail(const absl::Status& status) {
  std::cerr << "schedule: " << status << "\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: schedule LOG_DIRECTORY\n";
    return 2;
  }
  absl::StatusOr<kymo::Schedule> schedule = kymo::MakeSchedule(
      {.wait = 1, .warmup = 1, .active = 3, .repeat = 2, .skip_first = 1});
  if (!schedule.ok()) return Fail(schedule.status());
  const auto write_trace = kymo::TensorboardTraceHandler(argv[1]);

  kymo::Profile profile(
      {.record_shapes = true,
       .schedule = *schedule,
       .on_trace_ready = [&](kymo::Profile& ready) {
         std::cout << "cycle " << ready.cycles().back()->number()
                   << " ends with step " << ready.step_num() << "\n"
                   << ready.key_averages().table(
                          {.sort_by = "self_cpu_time_total", .row_limit = -1});
         return write_trace(ready);
       }});
  std::mt19937_64 random(1);
  const Tensor weights = tensor::RandN({128, 128}, 0.1F, random);
  if (absl::Status s = profile.Start(); !s.ok()) return Fail(s);
  for (int step = 0; step < kSteps; ++step) {
    Tensor x;
    {
      KYMO_RECORD_FUNCTION("load_batch", kymo::RecordScope::kUserScope);
      x = tensor::RandN({64, 128}, 1, random);
    }
    for (int layer = 0; layer < 3; ++layer) {
      x = tensor::Relu(tensor::Mm(x, weights));
    }
    if (absl::Status s = profile.Step(); !s.ok()) return Fail(s);
  }
  if (absl::Status s = profile.Stop(); !s.ok()) return Fail(s);
  return EXIT_SUCCESS;
}
