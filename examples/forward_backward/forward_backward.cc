// A training loop whose backward pass runs on a thread of its own, as in
// PyTorch's engine: forward and backward in one profile, and linked.
//
//   bazel run //examples:forward_backward -- /tmp/trace.json /tmp/memory.html
//
// Prints the operations by their own time, then which forward operation each
// backward one belongs to. Writes the timeline to the first file and the memory
// timeline to the second, if they are given. The program says which memory is
// parameters, inputs, activations, gradients and details of autograd.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "examples/forward_backward/autograd.h"
#include "kymo/events.h"
#include "kymo/memory.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/thread_state.h"

namespace {

using autograd::Variable;
using tensor::Tensor;

constexpr int kSteps = 10;
constexpr float kLearningRate = 0.05F;

// A thread is in a session if work is handed to it with its giver's state.
void BackwardOnItsOwnThread(const Variable& loss) {
  std::thread(kymo::Propagate([&loss] {
    kymo::SetThreadName("backward");
    const kymo::MemoryCategoryScope scope(
        kymo::MemoryCategory::kAutogradDetail);
    autograd::Backward(loss);
  })).join();
}

void SetCategory(const Tensor& tensor, kymo::MemoryCategory category) {
  kymo::SetMemoryCategory(tensor.values().data(),
                          static_cast<int64_t>(tensor.values().size_bytes()),
                          category);
}

Variable Forward(const Variable& x, const std::vector<Variable>& parameters,
                 const Tensor& target) {
  const kymo::MemoryCategoryScope scope(kymo::MemoryCategory::kActivation);
  const Variable hidden = autograd::Relu(autograd::MatMul(x, parameters[0]));
  return autograd::MseLoss(autograd::MatMul(hidden, parameters[1]), target);
}

void OptimizerStep(std::vector<Variable>& parameters) {
  KYMO_RECORD_FUNCTION("Optimizer.step#SGD.step",
                       kymo::RecordScope::kUserScope);
  for (Variable& parameter : parameters) {
    SetCategory(parameter.gradient(), kymo::MemoryCategory::kGradient);
    parameter.value() = tensor::Sub(
        parameter.value(), tensor::Scale(parameter.gradient(), kLearningRate));
    SetCategory(parameter.value(), kymo::MemoryCategory::kParameter);
    parameter.ZeroGradient();
  }
}

// The forward operation of a sequence number is the last that carries it: those
// around it peeked at the number that the innermost then took.
void PrintLinks(const kymo::EventList& events) {
  std::map<std::pair<int64_t, int64_t>, const kymo::FunctionEvent*> forward;
  for (const kymo::FunctionEvent& event : events) {
    if (event.sequence_nr >= 0 && event.fwd_thread.value_or(0) == 0) {
      forward[{event.thread, event.sequence_nr}] = &event;
    }
  }
  for (const kymo::FunctionEvent& event : events) {
    const int64_t forward_thread = event.fwd_thread.value_or(0);
    const auto found = forward.find({forward_thread, event.sequence_nr});
    if (forward_thread == 0 || found == forward.end()) continue;
    std::cout << event.name << " on thread " << event.thread << " is of "
              << found->second->name << " on thread " << forward_thread
              << ", sequence number " << event.sequence_nr << "\n";
  }
}

int Fail(const absl::Status& status) {
  std::cerr << "forward_backward: " << status << "\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) {
    std::cerr << "usage: forward_backward [TRACE_FILE [MEMORY_FILE]]\n";
    return 2;
  }
  std::mt19937_64 random(1);
  const Variable x = Variable::Constant(tensor::RandN({64, 32}, 1, random));
  const Tensor target = tensor::RandN({64, 8}, 1, random);
  std::vector<Variable> parameters = {
      Variable::Parameter(tensor::RandN({32, 128}, 0.1F, random)),
      Variable::Parameter(tensor::RandN({128, 8}, 0.1F, random))};

  kymo::Profile profile({.record_shapes = true, .profile_memory = true});
  if (absl::Status s = profile.Start(); !s.ok()) return Fail(s);
  // Tensors from before the recording: it knows of them what it is told.
  SetCategory(x.value(), kymo::MemoryCategory::kInput);
  SetCategory(target, kymo::MemoryCategory::kInput);
  for (const Variable& parameter : parameters) {
    SetCategory(parameter.value(), kymo::MemoryCategory::kParameter);
  }
  for (int step = 0; step < kSteps; ++step) {
    KYMO_RECORD_FUNCTION("train_step", kymo::RecordScope::kUserScope);
    const Variable loss = Forward(x, parameters, target);
    BackwardOnItsOwnThread(loss);
    OptimizerStep(parameters);
    if (step == 0 || step == kSteps - 1) {
      std::cout << "loss " << loss.value().values()[0] << "\n";
    }
  }
  if (absl::Status s = profile.Stop(); !s.ok()) return Fail(s);

  std::cout << profile.key_averages().table(
                   {.sort_by = "self_cpu_time_total", .row_limit = -1})
            << "\n";
  absl::StatusOr<const kymo::EventList*> events = profile.events();
  if (!events.ok()) return Fail(events.status());
  PrintLinks(**events);
  if (argc >= 2) {
    if (absl::Status s = profile.export_chrome_trace(argv[1]); !s.ok()) {
      return Fail(s);
    }
  }
  if (argc == 3) {
    if (absl::Status s = profile.export_memory_timeline(argv[2]); !s.ok()) {
      return Fail(s);
    }
  }
  return EXIT_SUCCESS;
}
