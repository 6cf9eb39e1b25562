// Trains a small network on two half moons: a program to profile.
//
//   bazel run //examples:train_mlp -- --epochs=30 --counts=/tmp/counts.json
//
// It prints one line per epoch. With --counts it also writes how often it
// entered each of its ranges, to hold against a profile of the same run.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/train_mlp/counts.h"
#include "examples/train_mlp/data.h"
#include "examples/train_mlp/model.h"
#include "examples/train_mlp/options.h"
#include "examples/train_mlp/pool.h"
#include "kymo/record_function.h"

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
                  size_t batch_size, std::mt19937_64& random,
                  int64_t& step_number) {
  const std::vector<int64_t> order = Shuffled(data.points.rows(), random);
  double total = 0;
  for (size_t begin = 0; begin < order.size(); begin += batch_size) {
    const std::span<const int64_t> indices = std::span(order).subspan(
        begin, std::min(batch_size, order.size() - begin));
    total += TrainStep(pool, model, data, indices, step_number++) *
             static_cast<double>(indices.size());
  }
  return total / static_cast<double>(order.size());
}

void Train(const Options& options) {
  kymo::SetThreadName("mlp main");
  Pool pool(static_cast<int>(options.threads));
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  const Dataset training = MakeMoons(kTrainingPoints, kNoise, random());
  const Dataset test = MakeMoons(kTestPoints, kNoise, random());
  Mlp model(std::array{kInputs, options.hidden, options.hidden, kClasses},
            random);
  std::printf("%lld parameters, %lld points\n",
              static_cast<long long>(model.parameter_count()),
              static_cast<long long>(kTrainingPoints));

  int64_t step_number = 0;
  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    const double loss = TrainEpoch(pool, model, training,
                                   static_cast<size_t>(options.batch_size),
                                   random, step_number);
    const Score score = Evaluate(pool, model, test);
    kymo::Instant(
        "epoch_end",
        {{"epoch", epoch}, {"loss", loss}, {"test_accuracy", score.accuracy}});
    std::printf("epoch %lld/%lld  loss %.4f  test loss %.4f  accuracy %.2f%%\n",
                static_cast<long long>(epoch),
                static_cast<long long>(options.epochs), loss, score.loss,
                100 * score.accuracy);
  }
}

}  // namespace
}  // namespace mlp

int main(int argc, char** argv) {
  mlp::Options options;
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const std::string problem = mlp::ParseOptions(arguments, options);
  if (!problem.empty()) {
    std::fprintf(stderr, "train_mlp: %s\n", problem.c_str());
    return 2;
  }
  if (options.help) {
    std::fputs(mlp::kUsage.data(), stdout);
    return 0;
  }
  mlp::Train(options);
  if (!options.counts.empty() && !mlp::WriteCounts(options.counts)) {
    std::fprintf(stderr, "train_mlp: cannot write %s: %s\n",
                 options.counts.c_str(), std::strerror(errno));
    return 1;
  }
  return 0;
}
