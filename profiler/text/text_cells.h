// text_cells.h - the cells of tables: times, bytes, shares, padding. They are
// PyTorch's, but for FormatBytes and ShareOrDash.
#ifndef KYMO_PROFILER_TEXT_TEXT_CELLS_H_
#define KYMO_PROFILER_TEXT_TEXT_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::report {

// printf's %.<decimals>f.
std::string FormatFixed(double value, int decimals);

// "1.500ms"; `time_unit` "s", "ms" or "us" forces the unit.
std::string FormatTime(double us, std::string_view time_unit);

// "1.50 KB", of 1024 bytes.
std::string FormatMemory(int64_t bytes);

// Three digits and a unit: "1.50 KiB", "23.4 MiB", "512 B".
std::string FormatBytes(int64_t bytes);

// "12.50%"; "NaN" when the total is 0.
std::string FormatShare(double part, double total);

// The same for tables that PyTorch does not have: "-" when the total is 0.
std::string ShareOrDash(double part, double total);

// Counts code points. A byte that begins none counts as one.
size_t TextWidth(std::string_view text);

// The first or the last `width` code points.
std::string_view TakeFirst(std::string_view text, size_t width);
std::string_view TakeLast(std::string_view text, size_t width);

enum class Align { kLeft, kRight };

// Padded with spaces to `width` code points; longer text stays whole.
void AppendPadded(std::string& out, std::string_view text, size_t width,
                  Align align);

// Breaks a line between words, so that it is no wider than `width` code points.
// Its further lines begin with `indent` spaces. "5 %" and "1.2 ms" are words.
std::string Wrapped(std::string_view line, size_t width, size_t indent);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_TEXT_TEXT_CELLS_H_
