#include "profiler/parquet/encode_column.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/parquet/delta.h"
#include "profiler/parquet/runs.h"
#include "profiler/parquet/thrift_writer.h"
#include "profiler/parquet/zstd.h"

namespace kymo::parquet {
namespace {

constexpr size_t kLongestStatistic = 256;

template <typename T>
std::string BytesOf(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// The values of the rows that have one.
template <typename T>
std::span<const T> Present(std::span<const T> values,
                           std::span<const uint8_t> is_present,
                           std::vector<T>& scratch) {
  if (is_present.empty()) return values;
  scratch.resize(values.size());
  size_t used = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    scratch[used] = values[i];
    used += is_present[i] != 0 ? 1 : 0;
  }
  return std::span<const T>(scratch).first(used);
}

// Which rows have a value: runs of bits, with their size before them.
void AppendLevels(std::span<const uint8_t> is_present, size_t rows,
                  size_t present, std::string& page) {
  const size_t at = page.size();
  page.append(sizeof(uint32_t), '\0');
  if (present == rows || present == 0) {
    AppendRun(present == rows ? 1 : 0, rows, 1, page);
  } else {
    std::vector<uint32_t> levels(rows);
    for (size_t i = 0; i < rows; ++i) levels[i] = is_present[i] != 0 ? 1 : 0;
    AppendRuns(levels, 1, page);
  }
  const auto size = static_cast<uint32_t>(page.size() - at - sizeof(uint32_t));
  std::memcpy(&page[at], &size, sizeof(size));
}

// REQUIRES: there is a value.
std::pair<int64_t, int64_t> LeastAndMost(std::span<const int64_t> values) {
  int64_t least = values[0];
  int64_t most = values[0];
  const bool are_equal = std::memcmp(values.data(), values.data() + 1,
                                     values.size_bytes() - sizeof(least)) == 0;
  if (are_equal) return {least, most};
  for (const int64_t value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return {least, most};
}

void AppendInts(const Values& values, std::string& page, Statistics& about) {
  std::vector<int64_t> scratch;
  const auto present = Present(values.ints, values.is_present, scratch);
  AppendDelta(present, page);
  if (present.empty()) return;
  const auto [least, most] = LeastAndMost(present);
  about.least = BytesOf(least);
  about.most = BytesOf(most);
}

void AppendDoubles(const Values& values, std::string& page, Statistics& about) {
  std::vector<double> scratch;
  const auto present = Present(values.doubles, values.is_present, scratch);
  page.append(reinterpret_cast<const char*>(present.data()),
              present.size_bytes());
  const bool has_order =
      std::ranges::none_of(present, [](double v) { return std::isnan(v); });
  if (present.empty() || !has_order) return;
  const auto [least, most] = std::ranges::minmax(present);
  // A zero is the smaller or the larger one, whatever its sign.
  about.least = BytesOf(least == 0 ? -0.0 : least);
  about.most = BytesOf(most == 0 ? 0.0 : most);
}

void AppendBools(const Values& values, std::string& page, Statistics& about) {
  std::vector<uint8_t> scratch;
  const auto present = Present(values.bools, values.is_present, scratch);
  if (present.empty()) return;
  const auto has = [&](uint8_t value) {
    return std::memchr(present.data(), value, present.size()) != nullptr;
  };
  const bool is_any_true = has(1);
  about.least = BytesOf<uint8_t>(!has(0));
  about.most = BytesOf<uint8_t>(is_any_true);
  const size_t at = page.size();
  page.resize(at + (present.size() + 7) / 8, '\0');
  if (!is_any_true) return;
  for (size_t i = 0; i < present.size(); ++i) {
    page[at + i / 8] |= static_cast<char>(present[i] << i % 8);
  }
}

void AppendText(const Values& values, std::string& page, Statistics& about) {
  std::vector<uint32_t> scratch;
  const auto present = Present(values.text, values.is_present, scratch);
  const auto largest =
      static_cast<uint32_t>(std::max<size_t>(values.dictionary.size(), 2) - 1);
  const int width = std::bit_width(largest);
  page.push_back(static_cast<char>(width));
  AppendRuns(present, width, page);
  if (values.dictionary.empty()) return;
  const auto [least, most] = std::ranges::minmax(values.dictionary);
  if (std::max(least.size(), most.size()) > kLongestStatistic) return;
  about.least = std::string(least);
  about.most = std::string(most);
}

std::string DictionaryPage(std::span<const std::string_view> texts) {
  size_t size = 0;
  for (const std::string_view text : texts) size += text.size() + 4;
  std::string page;
  page.reserve(size);
  for (const std::string_view text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    page.append(reinterpret_cast<const char*>(&length), sizeof(length));
    page.append(text);
  }
  return page;
}

struct PageToWrite {
  PageType type;
  size_t values;  // with those that are null
  Encoding encoding;
  std::string unpacked;
  std::string packed;
};

void AppendPage(const PageToWrite& page, Codec codec, EncodedColumn& out) {
  const std::string& stored =
      codec == Codec::kZstd ? page.packed : page.unpacked;
  const size_t at = out.bytes.size();
  ThriftWriter header(out.bytes);
  header.Int32(1, static_cast<int32_t>(page.type));
  header.Int32(2, static_cast<int32_t>(page.unpacked.size()));
  header.Int32(3, static_cast<int32_t>(stored.size()));
  const uint32_t checksum = crc32_gzip_refl(
      0, reinterpret_cast<const unsigned char*>(stored.data()), stored.size());
  header.Int32(4, static_cast<int32_t>(checksum));
  header.BeginStruct(page.type == PageType::kData ? 5 : 7);
  header.Int32(1, static_cast<int32_t>(page.values));
  header.Int32(2, static_cast<int32_t>(page.encoding));
  if (page.type == PageType::kData) {
    header.Int32(3, static_cast<int32_t>(Encoding::kRle));
    header.Int32(4, static_cast<int32_t>(Encoding::kRle));
  }
  header.EndStruct();
  header.EndStruct();
  out.unpacked_bytes += out.bytes.size() - at + page.unpacked.size();
  out.bytes.append(stored);
}

}  // namespace

// How many are 0. Most columns have none, or nothing else.
size_t CountNulls(std::span<const uint8_t> is_present) {
  const auto has = [&](uint8_t value) {
    return !is_present.empty() &&
           std::memchr(is_present.data(), value, is_present.size()) != nullptr;
  };
  if (!has(0)) return 0;
  if (!has(1)) return is_present.size();
  size_t nulls = 0;
  for (const uint8_t present : is_present) nulls += 1u - present;
  return nulls;
}

// Columns are often all there, or all null: that is cheap to say.
EncodedColumn EncodeColumn(const Column& column, size_t rows,
                           const Values& given) {
  EncodedColumn out;
  Values values = given;
  const size_t nulls = CountNulls(values.is_present);
  out.statistics.null_count = static_cast<int64_t>(nulls);
  if (nulls == rows) {
    values = {};
  } else if (nulls == 0) {
    values.is_present = {};
  }
  std::vector<PageToWrite> pages;
  if (column.type == Type::kText) {
    pages.push_back({PageType::kDictionary,
                     values.dictionary.size(),
                     Encoding::kPlain,
                     DictionaryPage(values.dictionary),
                     {}});
  }
  std::string page;
  if (column.is_nullable) {
    AppendLevels(values.is_present, rows, rows - nulls, page);
  }
  switch (column.type) {
    case Type::kBool:
      AppendBools(values, page, out.statistics);
      break;
    case Type::kInt64:
      AppendInts(values, page, out.statistics);
      break;
    case Type::kDouble:
      AppendDoubles(values, page, out.statistics);
      break;
    case Type::kText:
      AppendText(values, page, out.statistics);
      break;
  }
  pages.push_back(
      {PageType::kData, rows, EncodingOf(column.type), std::move(page), {}});

  // One codec for all pages of a column of a row group.
  size_t unpacked = 0;
  size_t packed = 0;
  for (PageToWrite& each : pages) {
    each.packed = Compress(each.unpacked);
    unpacked += each.unpacked.size();
    packed += each.packed.size();
  }
  // Unpacking costs a reader more than a few percent of bytes.
  out.codec = packed + unpacked / 16 < unpacked ? Codec::kZstd : Codec::kNone;
  for (const PageToWrite& each : pages) {
    AppendPage(each, out.codec, out);
    if (each.type == PageType::kDictionary) {
      out.dictionary_bytes = out.bytes.size();
    }
  }
  return out;
}

}  // namespace kymo::parquet
