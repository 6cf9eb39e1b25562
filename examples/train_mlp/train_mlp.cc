// Trains a small network on two half moons: a program to profile.
//
//   bazel run //examples:train_mlp -- --epochs=30 --counts=/tmp/counts.json
//
// It prints one line per epoch. With --counts it also writes how often it
// entered each of its ranges, to hold against a profile of the same run.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "examples/train_mlp/counts.h"
#include "examples/train_mlp/data.h"
#include "examples/train_mlp/model.h"
#include "examples/train_mlp/pool.h"
#include "kymo/record_function.h"

ABSL_FLAG(int32_t, epochs, 25, "Passes over the training set.");
ABSL_FLAG(int32_t, batch_size, 64, "Points per step.");
ABSL_FLAG(int32_t, hidden, 128, "Width of each of the two hidden layers.");
ABSL_FLAG(int32_t, threads, 2, "Threads that multiply matrices.");
ABSL_FLAG(uint64_t, seed, 1, "Of data, weights and order.");
ABSL_FLAG(std::string, counts, "",
          "File for the number of times each range was entered, as JSON.");

namespace mlp {
namespace {

constexpr int64_t kTrainingPoints = 2048;
constexpr int64_t kTestPoints = 512;
constexpr double kNoise = 0.15;
constexpr double kLearningRate = 0.05;
constexpr double kMomentum = 0.9;

// One optimisation step; returns the loss of its batch.
double TrainStep(Pool& pool, Mlp& model, const Dataset& data,
                 std::span<const int64_t> indices, int64_t step_number) {
  const std::string name = "ProfilerStep#" + std::to_string(step_number);
  kymo::RecordFunction step(std::string_view(name),
                            kymo::RecordScope::kUserScope);
  CountDynamic(name);
  const Dataset batch = Gather(data, indices);
  const Matrix& logits = model.Forward(pool, batch.points);
  const Loss loss = SoftmaxCrossEntropy(logits, batch.labels);
  model.Backward(pool, loss.logits_gradient);
  model.Step(kLearningRate, kMomentum);
  kymo::Counter("loss", loss.mean);
  return loss.mean;
}

// Returns the mean loss of the epoch's points.
double TrainEpoch(Pool& pool, Mlp& model, const Dataset& data,
                  std::mt19937_64& random, int64_t& step_number) {
  const std::vector<int64_t> order = Shuffled(data.points.rows(), random);
  const auto batch_size = static_cast<size_t>(absl::GetFlag(FLAGS_batch_size));
  double total = 0;
  for (size_t begin = 0; begin < order.size(); begin += batch_size) {
    const std::span<const int64_t> indices = std::span(order).subspan(
        begin, std::min(batch_size, order.size() - begin));
    total += TrainStep(pool, model, data, indices, step_number++) *
             static_cast<double>(indices.size());
  }
  return total / static_cast<double>(order.size());
}

int Train() {
  kymo::SetThreadName("mlp main");
  const uint64_t seed = absl::GetFlag(FLAGS_seed);
  const int64_t hidden = absl::GetFlag(FLAGS_hidden);
  const int32_t epochs = absl::GetFlag(FLAGS_epochs);

  Pool pool(absl::GetFlag(FLAGS_threads));
  std::mt19937_64 random(seed);
  const Dataset training = MakeMoons(kTrainingPoints, kNoise, random());
  const Dataset test = MakeMoons(kTestPoints, kNoise, random());
  Mlp model(std::array{kInputs, hidden, hidden, kClasses}, random);
  std::printf("%lld parameters, %lld points\n",
              static_cast<long long>(model.parameter_count()),
              static_cast<long long>(kTrainingPoints));

  int64_t step_number = 0;
  for (int32_t epoch = 1; epoch <= epochs; ++epoch) {
    const double loss = TrainEpoch(pool, model, training, random, step_number);
    const Score score = Evaluate(pool, model, test);
    kymo::Instant(
        "epoch_end",
        {{"epoch", epoch}, {"loss", loss}, {"test_accuracy", score.accuracy}});
    std::printf("epoch %d/%d  loss %.4f  test loss %.4f  accuracy %.2f%%\n",
                epoch, epochs, loss, score.loss, 100 * score.accuracy);
  }
  return 0;
}

// Says what is wrong with the flags; empty when nothing is.
std::string FlagsProblem() {
  const std::pair<const char*, int32_t> positive[] = {
      {"epochs", absl::GetFlag(FLAGS_epochs)},
      {"batch_size", absl::GetFlag(FLAGS_batch_size)},
      {"hidden", absl::GetFlag(FLAGS_hidden)},
      {"threads", absl::GetFlag(FLAGS_threads)}};
  for (const auto& [name, value] : positive) {
    if (value < 1) {
      return std::string("--") + name + " must be 1 or more, not " +
             std::to_string(value);
    }
  }
  return "";
}

}  // namespace
}  // namespace mlp

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("trains a small network on two half moons");
  if (absl::ParseCommandLine(argc, argv).size() > 1) {
    std::fprintf(stderr, "train_mlp: takes flags only; see --help\n");
    return 2;
  }
  if (const std::string problem = mlp::FlagsProblem(); !problem.empty()) {
    std::fprintf(stderr, "train_mlp: %s\n", problem.c_str());
    return 2;
  }
  const int status = mlp::Train();
  const std::string counts = absl::GetFlag(FLAGS_counts);
  if (!counts.empty() && !mlp::WriteCounts(counts)) {
    std::fprintf(stderr, "train_mlp: cannot write %s: %s\n", counts.c_str(),
                 std::strerror(errno));
    return 1;
  }
  return status;
}
