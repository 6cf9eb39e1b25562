#include "backends/sampling/bias_watch.h"

#include "backends/sampling/sample_bias.h"
#include "profiler/symbolize/kernel/kernel_symbols.h"

namespace kymo::sampling {
namespace {

constexpr size_t kWindowSamples = 200;
constexpr size_t kShortThreads = kWindowSamples / kSamplesOfLongThread;
constexpr size_t kOftenSamples = kWindowSamples * 15 / 100;

bool IsSwitch(uint64_t address) {
  const auto symbols = symbolize::KernelSymbols::OfThisMachine(address);
  const auto symbol = symbols->Find(address);
  // The compiler may add a suffix to the function's name.
  return symbol && symbol->name.starts_with("finish_task_switch");
}

}  // namespace

void BiasWatch::OnSample(uint32_t tid, std::optional<uint64_t> kernel_address) {
  if (was_said_ || is_due_) return;
  ++per_thread_[tid];
  if (kernel_address) ++places_[*kernel_address];
  if (++samples_ == kWindowSamples) EndOfWindow();
}

void BiasWatch::OnThreadEnd(uint32_t tid) {
  if (was_said_ || is_due_) return;
  const auto thread = per_thread_.extract(tid);
  if (!thread.empty() && thread.mapped() >= kSamplesOfLongThread) return;
  is_due_ = ++short_threads_ == kShortThreads;
}

void BiasWatch::EndOfWindow() {
  is_due_ = SwitchesOften();
  short_threads_ = 0;
  samples_ = 0;
  places_.clear();
}

bool BiasWatch::SwitchesOften() {
  for (const auto& [address, count] : places_) {
    if (count <= kOftenSamples || others_.contains(address)) continue;
    if (IsSwitch(address)) return true;
    others_.insert(address);
  }
  return false;
}

bool BiasWatch::IsDue() {
  if (!is_due_) return false;
  is_due_ = false;
  was_said_ = true;
  return true;
}

}  // namespace kymo::sampling
