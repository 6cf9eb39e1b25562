// json_writer.h - JSON for people to read too: indented, commas in place.
//
//   std::string out;
//   JsonWriter json(out);
//   json.BeginObject();
//   json.Key("threads");
//   json.BeginArray();
//   json.Int(1);
//   json.EndArray();
//   json.EndObject();
//
// The caller keeps the grammar (a key before each member, ends that match);
// debug builds check it. For many events use json_text.h directly.
#ifndef KYMO_PROFILER_TEXT_JSON_WRITER_H_
#define KYMO_PROFILER_TEXT_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::json {

class JsonWriter {
 public:
  // Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string& out) : out_(out) {}

  void BeginObject() { Open('{', '}'); }
  void EndObject() { Close(); }
  void BeginArray() { Open('[', ']'); }
  void EndArray() { Close(); }
  void Key(std::string_view key);

  void String(std::string_view value);
  void Int(int64_t value);
  void Uint(uint64_t value);
  void Double(double value);
  void Bool(bool value);
  // REQUIRES: IsValidJson(json).
  void Raw(std::string_view json);

  // A member in one go.
  void Member(std::string_view key, std::string_view value) {
    Key(key);
    String(value);
  }
  // A literal would rather become a bool than a view.
  void Member(std::string_view key, const char* value) {
    Member(key, std::string_view(value));
  }
  void Member(std::string_view key, int64_t value) {
    Key(key);
    Int(value);
  }
  void Member(std::string_view key, bool value) {
    Key(key);
    Bool(value);
  }

 private:
  struct Level {
    char end;
    bool is_empty;
  };

  void Open(char begin, char end);
  void Close();
  // Comma and new line before a value or key, where they belong.
  void BeforeValue();
  void NewLine();

  std::string& out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace kymo::json

#endif  // KYMO_PROFILER_TEXT_JSON_WRITER_H_
