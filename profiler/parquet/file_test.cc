#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/parquet/file_reader.h"
#include "profiler/parquet/file_writer.h"

namespace kymo::parquet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const FileSchema& Schema() {
  static const auto& schema =
      *new FileSchema{.columns = {{"id", Type::kInt64, false},
                                  {"step", Type::kInt64, true},
                                  {"name", Type::kText, false},
                                  {"note", Type::kText, true},
                                  {"value", Type::kDouble, true},
                                  {"is_open", Type::kBool, false}},
                      .metadata = {{"kymo.table", "events"}},
                      .created_by = "kymo version 0.1.0"};
  return schema;
}

// A file of `groups` row groups of `rows` rows.
std::string MakeFile(size_t groups, size_t rows) {
  std::string file;
  FileWriter writer(Schema(), [&](std::string_view bytes) {
    file.append(bytes);
    return absl::OkStatus();
  });
  EXPECT_TRUE(writer.Begin().ok());
  const std::vector<std::string_view> names = {"aten::add", "", "caf\xC3\xA9"};
  const std::vector<std::string_view> notes = {"only"};
  for (size_t g = 0; g < groups; ++g) {
    std::vector<int64_t> id(rows), step(rows);
    std::vector<uint8_t> odd(rows), none(rows, 0), first(rows);
    std::vector<uint32_t> name(rows), note(rows);
    std::vector<double> value(rows);
    for (size_t i = 0; i < rows; ++i) {
      id[i] = static_cast<int64_t>(g * rows + i);
      step[i] = static_cast<int64_t>(i / 3);
      odd[i] = i % 2;
      first[i] = i == 0;
      name[i] = i % 3;
      value[i] = static_cast<double>(i) / 4;
    }
    std::vector<EncodedColumn> columns;
    const auto add = [&](const Values& values) {
      columns.push_back(
          EncodeColumn(Schema().columns[columns.size()], rows, values));
    };
    add({.ints = id});
    add({.is_present = odd, .ints = step});
    add({.text = name, .dictionary = names});
    add({.is_present = first, .text = note, .dictionary = notes});
    add({.is_present = none, .doubles = value});
    add({.bools = odd});
    EXPECT_TRUE(writer.AddRowGroup(rows, columns).ok());
  }
  EXPECT_TRUE(writer.Finish().ok());
  return file;
}

std::string PathOf(const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/file_test.parquet";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string ErrorOf(const std::string& bytes) {
  return std::string(FileReader::Open(PathOf(bytes)).status().message());
}

TEST(FileTest, ReadsWhatWasWritten) {
  const auto file = FileReader::Open(PathOf(MakeFile(2, 100)));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->schema().columns, Schema().columns);
  EXPECT_EQ(file->schema().created_by, Schema().created_by);
  EXPECT_EQ(file->Metadata("kymo.table"), "events");
  EXPECT_EQ(file->Metadata("else"), std::nullopt);
  EXPECT_EQ(file->FindColumn("name"), 2u);
  EXPECT_EQ(file->FindColumn("nam"), std::nullopt);
  ASSERT_EQ(file->group_count(), 2u);
  EXPECT_EQ(file->row_count(), 200u);
  ColumnData id, step, name, note, value, is_open;
  int column = 0;
  for (ColumnData* const data : {&id, &step, &name, &note, &value, &is_open}) {
    // What the last row group had is gone.
    ASSERT_TRUE(file->Read(0, column, *data).ok());
    ASSERT_TRUE(file->Read(1, column++, *data).ok());
  }
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(id.ints[i], 100 + i);
    EXPECT_EQ(step.Has(i), i % 2 == 1);
    if (step.Has(i)) {
      EXPECT_EQ(step.ints[i], i / 3);
    }
    EXPECT_EQ(name.text[i], i % 3);
    EXPECT_EQ(note.Has(i), i == 0);
    EXPECT_FALSE(value.Has(i));
    EXPECT_EQ(value.doubles[i], 0);
    EXPECT_EQ(is_open.bools[i], i % 2);
  }
  EXPECT_THAT(name.dictionary, ElementsAre("aten::add", "", "caf\xC3\xA9"));
  EXPECT_EQ(note.dictionary[note.text[0]], "only");
}

TEST(FileTest, AFileMayHaveNoRows) {
  const auto file = FileReader::Open(PathOf(MakeFile(0, 0)));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->row_count(), 0u);
  EXPECT_EQ(file->schema().columns, Schema().columns);
}

int64_t IntOf(const std::optional<std::string>& bytes) {
  int64_t value = 0;
  std::memcpy(&value, bytes.value().data(), sizeof(value));
  return value;
}

TEST(FileTest, StatisticsAreOfTheValuesThatAreThere) {
  const std::vector<int64_t> ints = {9, -5, 7, 100};
  const std::vector<uint8_t> present = {1, 1, 1, 0};
  const Statistics of_ints = EncodeColumn({"x", Type::kInt64, true}, 4,
                                          {.is_present = present, .ints = ints})
                                 .statistics;
  EXPECT_EQ(of_ints.null_count, 1);
  for (const Type type :
       {Type::kInt64, Type::kDouble, Type::kBool, Type::kText}) {
    const std::vector<uint8_t> none = {0, 0, 0};
    EXPECT_EQ(EncodeColumn({"x", type, true}, 3, {.is_present = none})
                  .statistics.null_count,
              3);
  }
  EXPECT_EQ(IntOf(of_ints.least), -5);
  EXPECT_EQ(IntOf(of_ints.most), 9);

  // NaN has no place in an order.
  const std::vector<double> doubles = {1, std::nan(""), 2, 3};
  EXPECT_FALSE(
      EncodeColumn({"x", Type::kDouble, false}, 4, {.doubles = doubles})
          .statistics.least);
  const std::vector<std::string_view> texts = {"b", "a\xFF", "a"};
  const std::vector<uint32_t> indices = {0, 1, 2, 0};
  const Statistics of_texts =
      EncodeColumn({"x", Type::kText, false}, 4,
                   {.text = indices, .dictionary = texts})
          .statistics;
  EXPECT_EQ(of_texts.least, "a");
  EXPECT_EQ(of_texts.most, "b");
}

TEST(FileTest, SaysWhatIsWrong) {
  const std::string file = MakeFile(1, 50);
  EXPECT_THAT(ErrorOf("PAR1"), HasSubstr("too short"));
  EXPECT_THAT(ErrorOf("{\"traceEvents\": []}"), HasSubstr("no Parquet file"));
  EXPECT_THAT(ErrorOf(file.substr(0, file.size() - 3)), HasSubstr("cut off"));
  std::string large = file;
  large[large.size() - 5] = '\x7F';
  EXPECT_THAT(ErrorOf(large), HasSubstr("larger than the file"));
  EXPECT_THAT(ErrorOf(large), HasSubstr("file_test.parquet"));
  EXPECT_EQ(FileReader::Open("/no/such/file").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(FileTest, AChecksumFindsAChangedPage) {
  std::string bytes = MakeFile(1, 50);
  // The last byte of the last column.
  uint32_t footer;
  std::memcpy(&footer, &bytes[bytes.size() - 8], sizeof(footer));
  bytes[bytes.size() - 9 - footer] ^= 1;
  const std::string path = PathOf(bytes);
  const auto file = FileReader::Open(path);
  ASSERT_TRUE(file.ok());
  ColumnData data;
  const absl::Status status = file->Read(0, 5, data);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("checksum"));
}

// Reads all of it. Whether that went well.
bool ReadAll(const std::string& path) {
  const auto file = FileReader::Open(path, Checksums::kIgnore);
  if (!file.ok()) return false;
  bool is_good = true;
  for (size_t g = 0; g < file->group_count(); ++g) {
    for (size_t c = 0; c < file->schema().columns.size(); ++c) {
      ColumnData data;
      is_good &= file->Read(g, c, data).ok();
      if (!is_good) continue;
      for (const uint32_t index : data.text) {
        EXPECT_TRUE(index == 0 || index < data.dictionary.size());
      }
    }
  }
  return is_good;
}

TEST(FileTest, NoChangeOfBytesBreaksTheReader) {
  const std::string file = MakeFile(2, 300);
  std::mt19937 random(1);
  int good = 0;
  constexpr int kFiles = 3000;
  for (int i = 0; i < kFiles; ++i) {
    std::string bytes = file;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      // Half of the changes are in the footer, where the structure is.
      const size_t from = random() % 2 == 0 ? 0 : bytes.size() / 2;
      bytes[from + random() % (bytes.size() - from)] =
          static_cast<char>(random() % 4 == 0 ? 0xFF : random());
    }
    if (random() % 16 == 0) bytes.resize(random() % bytes.size());
    good += ReadAll(PathOf(bytes)) ? 1 : 0;
  }
  EXPECT_GT(good, 0);
  EXPECT_LT(good, kFiles);
}

}  // namespace
}  // namespace kymo::parquet
