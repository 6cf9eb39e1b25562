#include "profiler/parquet/decode_column.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/parquet/delta.h"
#include "profiler/parquet/runs.h"
#include "profiler/parquet/thrift_reader.h"
#include "profiler/parquet/zstd.h"

namespace kymo::parquet {
namespace {

// FileWriter's pages are at most some tens of MiB.
constexpr int64_t kMostPageBytes = int64_t{256} << 20;

absl::Status Damaged(const Column& column, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "column '", column.name, "' is damaged: ", std::string(what)));
}

struct Page {
  int64_t type = -1;
  int64_t unpacked_bytes = -1;
  int64_t packed_bytes = -1;
  std::optional<int64_t> checksum;
  int64_t values = -1;
  int64_t encoding = -1;
  std::string_view stored;
};

void ParsePageKind(ThriftReader& in, Page& page) {
  in.BeginStruct();
  while (in.NextField()) {
    if (in.field() == 1) {
      page.values = in.Int();
    } else if (in.field() == 2) {
      page.encoding = in.Int();
    } else {
      in.Skip();
    }
  }
}

// The page at the beginning of `bytes`, which it takes away.
std::optional<Page> NextPage(std::string_view& bytes) {
  Page page;
  ThriftReader in(bytes);
  while (in.NextField()) {
    switch (in.field()) {
      case 1:
        page.type = in.Int();
        break;
      case 2:
        page.unpacked_bytes = in.Int();
        break;
      case 3:
        page.packed_bytes = in.Int();
        break;
      case 4:
        page.checksum = in.Int();
        break;
      case 5:
      case 7:
        ParsePageKind(in, page);
        break;
      default:
        in.Skip();
    }
  }
  const std::string_view rest = in.rest();
  if (!in.ok() || page.packed_bytes < 0 || page.unpacked_bytes < 0 ||
      page.unpacked_bytes > kMostPageBytes ||
      static_cast<uint64_t>(page.packed_bytes) > rest.size()) {
    return std::nullopt;
  }
  page.stored = rest.substr(0, static_cast<size_t>(page.packed_bytes));
  bytes = rest.substr(page.stored.size());
  return page;
}

class Decoder {
 public:
  Decoder(const Column& column, Codec codec, size_t rows, Checksums checksums,
          ColumnData& data)
      : column_(column),
        codec_(codec),
        rows_(rows),
        checksums_(checksums),
        data_(data) {}

  absl::Status Decode(std::string_view bytes) {
    if (column_.type == Type::kText) {
      KYMO_ASSIGN_OR_RETURN(
          const std::string_view page,
          Take(bytes, PageType::kDictionary, Encoding::kPlain));
      KYMO_RETURN_IF_ERROR(ReadDictionary(std::string(page)));
    }
    KYMO_ASSIGN_OR_RETURN(
        std::string_view page,
        Take(bytes, PageType::kData, EncodingOf(column_.type)));
    if (page_values_ != rows_) return Damaged("another number of rows");
    if (!bytes.empty()) return Damaged("there are more pages");
    KYMO_RETURN_IF_ERROR(ReadLevels(page));
    return ReadValues(page);
  }

 private:
  absl::Status Damaged(std::string_view what) const {
    return parquet::Damaged(column_, what);
  }

  // The next page, unpacked; it lives until the next call.
  absl::StatusOr<std::string_view> Take(std::string_view& bytes, PageType type,
                                        Encoding encoding) {
    const std::optional<Page> page = NextPage(bytes);
    if (!page) return Damaged("no page where one belongs");
    if (page->type != static_cast<int64_t>(type) ||
        page->encoding != static_cast<int64_t>(encoding) || page->values < 0) {
      return Damaged("a page that Kymo does not write");
    }
    page_values_ = static_cast<size_t>(page->values);
    const auto* const stored =
        reinterpret_cast<const unsigned char*>(page->stored.data());
    if (checksums_ == Checksums::kVerify && page->checksum &&
        static_cast<int32_t>(crc32_gzip_refl(0, stored, page->stored.size())) !=
            *page->checksum) {
      return Damaged("the checksum of a page differs");
    }
    const auto unpacked = static_cast<size_t>(page->unpacked_bytes);
    if (codec_ == Codec::kZstd) {
      absl::StatusOr<std::string> text = Decompress(page->stored, unpacked);
      if (!text.ok()) return Damaged(std::string(text.status().message()));
      unpacked_ = *std::move(text);
      return unpacked_;
    }
    if (page->stored.size() != unpacked)
      return Damaged("a page of another size");
    return page->stored;
  }

  absl::Status ReadDictionary(std::string page) {
    data_.texts = std::make_unique<const std::string>(std::move(page));
    std::string_view rest = *data_.texts;
    while (!rest.empty()) {
      uint32_t size = 0;
      if (rest.size() < sizeof(size)) return Damaged("half a text");
      std::memcpy(&size, rest.data(), sizeof(size));
      rest.remove_prefix(sizeof(size));
      if (size > rest.size()) return Damaged("half a text");
      data_.dictionary.push_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    if (data_.dictionary.size() != page_values_) {
      return Damaged("another number of texts");
    }
    return absl::OkStatus();
  }

  absl::Status ReadLevels(std::string_view& rest) {
    present_ = rows_;
    if (!column_.is_nullable) return absl::OkStatus();
    uint32_t size = 0;
    if (rest.size() < sizeof(size)) return Damaged("no levels");
    std::memcpy(&size, rest.data(), sizeof(size));
    rest.remove_prefix(sizeof(size));
    if (size > rest.size()) return Damaged("wrong levels");
    const std::string_view runs = rest.substr(0, size);
    rest.remove_prefix(size);
    if (const auto all = ReadOnlyRun(runs, 1, rows_)) {
      if (*all == 1) return absl::OkStatus();
      present_ = 0;
      data_.is_present.assign(rows_, 0);
      return absl::OkStatus();
    }
    std::vector<uint32_t> levels(rows_);
    if (!ReadRuns(runs, 1, levels)) return Damaged("wrong levels");
    present_ = static_cast<size_t>(std::ranges::count(levels, 1u));
    if (present_ != rows_) {
      data_.is_present.assign(levels.begin(), levels.end());
    }
    return absl::OkStatus();
  }

  absl::Status ReadValues(std::string_view rest) {
    switch (column_.type) {
      case Type::kBool:
        return ReadBools(rest);
      case Type::kInt64:
        data_.ints.resize(present_);
        if (!ReadDelta(rest, data_.ints)) return Damaged("wrong numbers");
        Spread(data_.ints);
        return absl::OkStatus();
      case Type::kDouble:
        if (rest.size() != present_ * sizeof(double)) {
          return Damaged("wrong numbers");
        }
        data_.doubles.resize(present_);
        if (present_ != 0) {
          std::memcpy(data_.doubles.data(), rest.data(), rest.size());
        }
        Spread(data_.doubles);
        return absl::OkStatus();
      case Type::kText:
        break;
    }
    return ReadTexts(rest);
  }

  absl::Status ReadBools(std::string_view rest) {
    if (rest.size() != (present_ + 7) / 8) return Damaged("wrong bits");
    if (std::ranges::all_of(rest, [](char bits) { return bits == 0; })) {
      data_.bools.assign(present_, 0);
      Spread(data_.bools);
      return absl::OkStatus();
    }
    data_.bools.resize(present_);
    for (size_t i = 0; i < present_; ++i) {
      const auto bits = static_cast<uint8_t>(rest[i / 8]);
      data_.bools[i] = static_cast<uint8_t>(bits >> i % 8 & 1);
    }
    Spread(data_.bools);
    return absl::OkStatus();
  }

  absl::Status ReadTexts(std::string_view rest) {
    if (rest.empty()) return Damaged("no indices");
    const int width = static_cast<uint8_t>(rest.front());
    data_.text.resize(present_);
    if (width > 32 || !ReadRuns(rest.substr(1), width, data_.text)) {
      return Damaged("wrong indices");
    }
    for (const uint32_t index : data_.text) {
      if (index >= data_.dictionary.size()) {
        return Damaged("an index beyond the dictionary");
      }
    }
    Spread(data_.text);
    return absl::OkStatus();
  }

  // Moves values to their rows. Others get a zero.
  template <typename T>
  void Spread(std::vector<T>& values) const {
    if (data_.is_present.empty()) return;
    if (values.empty()) {
      values.assign(rows_, T{});
      return;
    }
    size_t from = values.size();
    values.resize(rows_);
    for (size_t row = rows_; row-- > 0;) {
      values[row] = data_.is_present[row] != 0 ? values[--from] : T{};
    }
  }

  const Column& column_;
  const Codec codec_;
  const size_t rows_;
  const Checksums checksums_;
  ColumnData& data_;
  std::string unpacked_;
  size_t page_values_ = 0;  // that the last page says to have
  size_t present_ = 0;
};

}  // namespace

absl::Status DecodeColumn(std::string_view bytes, const Column& column,
                          Codec codec, size_t rows, Checksums checksums,
                          ColumnData& data) {
  data.is_present.clear();
  data.dictionary.clear();
  return Decoder(column, codec, rows, checksums, data).Decode(bytes);
}

}  // namespace kymo::parquet
