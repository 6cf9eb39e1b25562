#include "profiler/symbolize/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "profiler/base/descriptor.h"

namespace kymo::symbolize {
namespace {

struct Line {
  uint64_t address;
  char type;
  std::string_view name;
};

// "ffffffff81000000 T _stext", perhaps with "\t[module]" behind it.
std::optional<Line> ParseLine(std::string_view text) {
  Line line;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data(), end, line.address, 16);
  if (error != std::errc() || end - stop < 4 || stop[0] != ' ' ||
      stop[2] != ' ') {
    return std::nullopt;
  }
  line.type = stop[1];
  line.name = std::string_view(stop + 3, static_cast<size_t>(end - stop - 3));
  line.name = line.name.substr(0, line.name.find('\t'));
  return line;
}

bool IsFunction(const Line& line) {
  return line.address != 0 &&
         std::string_view("tTwW").find(line.type) != std::string_view::npos;
}

// The address of the last complete line; 0 if there is none.
uint64_t LastAddress(std::string_view text) {
  const size_t end = text.rfind('\n');
  if (end == std::string_view::npos || end == 0) return 0;
  const size_t begin = text.rfind('\n', end - 1);
  const std::optional<Line> line = ParseLine(
      text.substr(begin == std::string_view::npos ? 0 : begin + 1,
                  end - (begin == std::string_view::npos ? 0 : begin + 1)));
  return line ? line->address : 0;
}

}  // namespace

KernelSymbols::KernelSymbols(std::string text)
    : text_(std::make_unique<const std::string>(std::move(text))) {
  constexpr size_t kUsualLine = 40;
  const std::string_view all = *text_;
  symbols_.reserve(all.size() / kUsualLine);
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    const std::optional<Line> line = ParseLine(all.substr(begin, end - begin));
    if (line && IsFunction(*line)) {
      symbols_.push_back({line->address, line->name});
    }
    begin = end + 1;
  }
  const auto is_before = [](const KernelSymbol& a, const KernelSymbol& b) {
    return a.address < b.address;
  };
  // Mostly it is in order.
  if (!std::is_sorted(symbols_.begin(), symbols_.end(), is_before)) {
    std::stable_sort(symbols_.begin(), symbols_.end(), is_before);
  }
}

namespace {

// This machine's list, at least as far as `last_address`.
std::string ReadList(uint64_t last_address) {
  std::string text;
  const int fd =
      AboveStandardStreams(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  if (fd < 0) return text;
  text.reserve(size_t{8} << 20);  // more than most lists have
  std::vector<char> buffer(1 << 16);
  ssize_t size;
  while ((size = read(fd, buffer.data(), buffer.size())) > 0 ||
         (size < 0 && errno == EINTR)) {
    if (size < 0) continue;
    text.append(buffer.data(), static_cast<size_t>(size));
    if (LastAddress(text) > last_address) break;
  }
  close(fd);
  return text;
}

}  // namespace

std::shared_ptr<const KernelSymbols> KernelSymbols::OfThisMachine(
    uint64_t last_address) {
  struct Known {
    std::mutex mutex;
    std::weak_ptr<const KernelSymbols> symbols;
  };
  static auto& known = *new Known;
  const std::lock_guard lock(known.mutex);
  std::shared_ptr<const KernelSymbols> symbols = known.symbols.lock();
  if (symbols == nullptr || !symbols->Reaches(last_address)) {
    symbols = std::make_shared<const KernelSymbols>(ReadList(last_address));
    known.symbols = symbols;
  }
  return symbols;
}

bool KernelSymbols::Reaches(uint64_t address) const {
  return !symbols_.empty() && address < symbols_.back().address;
}

const KernelSymbol* KernelSymbols::Find(uint64_t address) const {
  const auto after = std::partition_point(
      symbols_.begin(), symbols_.end(),
      [&](const KernelSymbol& symbol) { return symbol.address <= address; });
  return after == symbols_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace kymo::symbolize
