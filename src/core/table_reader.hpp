#pragma once
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

/// What the fields of a column may hold.
struct ColumnRules {
  std::string_view unit = {};  ///< a header that says another one, "x[cm]", is refused
  Real min = -HUGE_VAL, max = HUGE_VAL;
  std::string_view range = {};   ///< the same in words, for messages: "from 0 m/s to 20 m/s"
  bool may_be_empty = false;     ///< an empty field leaves the value as it was when it was bound
  bool may_be_infinite = false;  ///< or nan
};

/// A table as text: a header that names columns, "x" or "x[m]", then rows. Lines that are empty or begin with
/// # do not count; a field may be in double quotes. Columns are asked for by name, each with the variable
/// that holds its value in the present row:
///
///     TableReader table = TableReader::of_file("people.csv", "no header line");
///     Real radius = NAN;
///     table.real("radius", radius, {.unit = "m", .may_be_empty = true});
///     while (table.next()) use(radius);
///
/// Whatever is wrong with a table is an InputError "file:line: ...". Local unless said otherwise.
class TableReader {
 public:
  /// Of a file, line by line; `if_empty`: what to say of one without a header.
  static TableReader of_file(const std::string& path, std::string_view if_empty);
  /// Of the content of a file that has been read.
  static TableReader of_text(const std::string& path, std::string text, std::string_view if_empty);
  /// The rows of a file that begin in this rank's share of its bytes. Throws on all ranks. Collective.
  static TableReader of_share(const Comm& comm, const std::string& path, std::string_view if_empty);
  /// Rows of words between blanks, in columns that have these names; `n_before` lines come before `text`. In
  /// messages `where` stands for the header and "where, row 3" for a row.
  static TableReader of_words(const std::string& where, std::span<const std::string_view> names,
                              std::string text, std::int64_t n_before);

  /// Names of the columns in the order of the file, and their units; "": none is given.
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& units() const { return units_; }
  bool has(std::string_view name) const;

  /// Binds `value` to a column; returns whether the table has it. What is bound must outlive the reader.
  bool real(std::string_view name, Real& value, const ColumnRules& rules = {}) {
    return bind(name, Bound<Real>{&value, value}, rules);
  }
  bool integer(std::string_view name, std::int64_t& value, const ColumnRules& rules = {}) {
    return bind(name, Bound<std::int64_t>{&value, value}, rules);
  }
  /// Valid until next().
  bool text(std::string_view name, std::string_view& value, const ColumnRules& rules = {}) {
    return bind(name, Bound<std::string_view>{&value, value}, rules);
  }
  /// Names of columns that nobody has asked for.
  std::vector<std::string> others() const;
  /// Refuses a table that has others, with the nearest of the names that were asked for.
  void refuse_others() const;

  /// Goes to the next row and reads its fields into what is bound; false: there is none.
  bool next();
  /// Number of the line of the present row, from 1 on.
  std::int64_t line() const { return line_; }
  /// The place of the present row; before the first one, of the header.
  std::string where() const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  template <class T>
  struct Bound {
    T* value;
    T before;
  };
  using AnyBound = std::variant<Bound<Real>, Bound<std::int64_t>, Bound<std::string_view>>;
  struct Column {
    std::size_t place;
    ColumnRules rules;
    AnyBound bound;
  };

  TableReader(std::string path, std::unique_ptr<std::istream> lines);
  void read_header(std::string_view if_empty);
  void name_columns(std::span<const std::string_view> fields);
  bool bind(std::string_view name, const AnyBound& bound, const ColumnRules& rules);
  void take(std::string_view field, const Column& column, Real& value) const;
  void take(std::string_view field, const Column& column, std::int64_t& value) const;
  void take(std::string_view field, const Column& column, std::string_view& value) const;

  std::string path_;
  std::unique_ptr<std::istream> lines_;
  bool is_of_words_ = false, is_at_header_ = true;
  std::int64_t header_ = 0, line_ = 0;  // numbers of lines
  std::string content_;                 // of the line
  std::vector<std::string> names_, units_;
  std::vector<std::string> asked_for_;
  std::vector<Column> columns_;
};

/// The lines that begin in [begin, end) of a file, whole; `begin` becomes where the first of them does. Lines
/// of shares that follow each other are those of the file, each once. Throws InputError. Local.
std::string read_lines(const std::string& path, std::istream& file, std::int64_t& begin, std::int64_t end);

/// The words of a line, which blanks separate.
std::vector<std::string_view> words_of(std::string_view line);

/// A file to read bytes from; throws InputError. Local.
std::ifstream open_binary(const std::string& path);

}  // namespace scree
