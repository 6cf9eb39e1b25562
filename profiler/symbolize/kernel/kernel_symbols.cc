#include "profiler/symbolize/kernel/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <iterator>
#include <memory>
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
  bool is_of_module;
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
  const size_t tab = line.name.find('\t');
  line.is_of_module = tab != std::string_view::npos;
  line.name = line.name.substr(0, tab);
  return line;
}

bool IsFunction(const Line& line) {
  return line.address != 0 &&
         std::string_view("tTwW").find(line.type) != std::string_view::npos;
}

// Calls it with each line of `text`.
template <typename Function>
void ForEachLine(std::string_view text, Function function) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    function(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

constexpr auto kIsBefore = [](const auto& a, const auto& b) {
  return a.address < b.address;
};

// Mostly the list is in order.
template <typename Symbol>
void Sort(std::vector<Symbol>& symbols) {
  if (!std::ranges::is_sorted(symbols, kIsBefore)) {
    std::ranges::stable_sort(symbols, kIsBefore);
  }
}

// The address of the last complete line; 0 if there is none.
uint64_t LastAddress(std::string_view text) {
  const size_t end = text.rfind('\n');
  if (end == std::string_view::npos || end == 0) return 0;
  const size_t before = text.rfind('\n', end - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::optional<Line> line = ParseLine(text.substr(begin, end - begin));
  return line ? line->address : 0;
}

}  // namespace

KernelSymbols::KernelSymbols(std::string text)
    : text_(std::make_unique<const std::string>(std::move(text))) {
  constexpr size_t kUsualLine = 40;
  symbols_.reserve(text_->size() / kUsualLine);
  ForEachLine(*text_, [&](std::string_view text_of_line) {
    const std::optional<Line> line = ParseLine(text_of_line);
    if (line && IsFunction(*line)) {
      symbols_.push_back({line->address, line->name});
    }
  });
  Sort(symbols_);
}

KernelSymbols::KernelSymbols(KeptLines kept) : kept_(std::move(kept)) {}

std::string KernelSymbols::LinesToKeep(std::string_view text) {
  struct Function {
    uint64_t address;
    std::string_view line;
  };
  std::vector<Function> functions;
  ForEachLine(text, [&](std::string_view text_of_line) {
    const std::optional<Line> line = ParseLine(text_of_line);
    if (line && IsFunction(*line) && !line->is_of_module) {
      functions.push_back({line->address, text_of_line});
    }
  });
  Sort(functions);
  std::string lines;
  lines.reserve(text.size());
  for (const Function& function : functions) {
    lines.append(function.line).push_back('\n');
  }
  return lines;
}

namespace {

// The kernel's list, at least as far as `last_address`.
std::string ReadList(const std::string& path, uint64_t last_address) {
  std::string text;
  const int fd = AboveStandardStreams(open(path.c_str(), O_RDONLY | O_CLOEXEC));
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

// Of lines in order, the last one up to `address`. Nothing if lines are none.
std::optional<Line> FindLine(std::string_view lines, uint64_t address) {
  std::optional<Line> found;
  // Each turn halves what may have it: whole lines from `begin` to `end`.
  for (size_t begin = 0, end = lines.size(); begin < end;) {
    const size_t newline =
        lines.substr(0, begin + (end - begin) / 2).rfind('\n');
    const size_t at = newline == std::string_view::npos || newline < begin
                          ? begin
                          : newline + 1;
    const size_t after = std::min(lines.find('\n', at), end - 1) + 1;
    const std::optional<Line> line =
        ParseLine(lines.substr(at, after - 1 - at));
    if (!line) return std::nullopt;
    if (line->address > address) {
      end = at;
    } else {
      found = line;
      begin = after;
    }
  }
  return found;
}

}  // namespace

std::string KernelSymbols::PathOfCopy() {
#if defined(__x86_64__)  // elsewhere, modules lie before the kernel
  constexpr char kName[] = "/kymo-kernel-symbols";
  if (geteuid() == 0) return std::string("/run") + kName;
  const char* const folder = secure_getenv("XDG_RUNTIME_DIR");
  if (folder != nullptr && folder[0] == '/') return std::string(folder) + kName;
#endif
  return "";
}

std::shared_ptr<const KernelSymbols> KernelSymbols::OfThisMachine(
    uint64_t last_address, const std::string& copy, const std::string& list) {
  struct Known {
    const pid_t pid = getpid();
    std::mutex mutex;
    std::weak_ptr<const KernelSymbols> symbols;
  };
  // A forked child has its own: its parent's may be locked for ever.
  static constinit std::atomic<Known*> of_process{nullptr};
  Known* there = of_process;
  if (there == nullptr || there->pid != getpid()) {
    auto own = std::make_unique<Known>();
    if (of_process.compare_exchange_strong(there, own.get())) {
      there = own.release();
    }
  }
  Known& known = *there;
  const std::lock_guard lock(known.mutex);
  std::shared_ptr<const KernelSymbols> symbols = known.symbols.lock();
  if (symbols != nullptr && symbols->Reaches(last_address)) return symbols;
  bool is_to_keep = !copy.empty();
  if (is_to_keep) {
    if (std::optional<KeptLines> kept = KeptLines::Open(copy)) {
      is_to_keep = false;
      symbols = std::make_shared<const KernelSymbols>(*std::move(kept));
    }
  }
  if (symbols == nullptr || !symbols->Reaches(last_address)) {
    std::string text = ReadList(list, is_to_keep ? ~uint64_t{0} : last_address);
    if (is_to_keep) {
      const std::string lines = LinesToKeep(text);
      if (!lines.empty()) KeptLines::Write(copy, lines);
    }
    symbols = std::make_shared<const KernelSymbols>(std::move(text));
  }
  known.symbols = symbols;
  return symbols;
}

bool KernelSymbols::Reaches(uint64_t address) const {
  if (!kept_) return !symbols_.empty() && address < symbols_.back().address;
  const std::optional<Line> last = FindLine(kept_->lines(), ~uint64_t{0});
  return last && address < last->address;
}

std::optional<KernelSymbol> KernelSymbols::Find(uint64_t address) const {
  if (kept_) {
    const std::optional<Line> line = FindLine(kept_->lines(), address);
    if (!line) return std::nullopt;
    return KernelSymbol{line->address, line->name};
  }
  const auto after = std::partition_point(
      symbols_.begin(), symbols_.end(),
      [&](const KernelSymbol& symbol) { return symbol.address <= address; });
  if (after == symbols_.begin()) return std::nullopt;
  return *std::prev(after);
}

}  // namespace kymo::symbolize
