#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// A text is no JSON, or a value is not what it is taken for.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A JSON value whose objects keep their order. Written as nested braces: {{"name", name}, {"sizes", {1, 2}}}
/// is an object, as all its parts are pairs that begin with a text; other braces make arrays. Local.
/// Everything is compiled in json.cpp: the library behind it takes longer to compile than most files that use
/// it.
class Json {
 public:
  Json() = default;
  Json(std::nullptr_t) {}
  template <std::same_as<bool> Bool>
  Json(Bool value) : kind_(Kind::boolean), integer_(value) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Json(Integer value)
      : kind_(std::signed_integral<Integer> ? Kind::integer : Kind::natural),
        integer_(static_cast<std::int64_t>(value)) {}
  Json(Real value) : kind_(Kind::real), real_(value) {}
  Json(const char* text) : Json(std::string(text)) {}
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(std::string text);
  Json(std::initializer_list<Json> parts);
  template <class Value>
  Json(const std::vector<Value>& values) : kind_(Kind::array) {
    for (const Value& value : values) values_.push_back(Json(value));
  }
  template <class Value, std::size_t N>
  Json(const std::array<Value, N>& values) : kind_(Kind::array) {
    for (const Value& value : values) values_.push_back(Json(value));
  }

  static Json array();
  static Json object();
  /// Throws JsonError.
  static Json parse(const std::string& text);
  /// null if the text is no JSON.
  static Json parse_or_null(const std::string& text);
  /// In one line if `indent` is negative. What is not UTF-8 throws JsonError, or is replaced. Infinities and
  /// NaN become null.
  std::string dump(int indent = -1, bool replace_not_utf8 = false) const;

  bool is_null() const { return kind_ == Kind::null; }
  bool is_string() const { return kind_ == Kind::text; }
  bool is_number() const { return is_integer() || kind_ == Kind::real; }
  bool is_integer() const { return kind_ == Kind::integer || kind_ == Kind::natural; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }

  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  /// Values of an array or object.
  std::vector<Json>::const_iterator begin() const { return values_.begin(); }
  std::vector<Json>::const_iterator end() const { return values_.end(); }
  /// Copies of the members of an object.
  std::vector<std::pair<std::string, Json>> members() const;

  /// The member of an object, made if there is none; null becomes an object.
  Json& operator[](std::string_view key);
  const Json& operator[](std::string_view key) const { return at(key); }
  const Json& operator[](const char* key) const { return at(key); }
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  template <std::integral Index>
  const Json& operator[](Index i) const {
    return values_.at(static_cast<std::size_t>(i));
  }
  /// Throws JsonError if there is none.
  const Json& at(std::string_view key) const;
  /// The member of an object, or nullptr.
  const Json* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  void erase(std::string_view key);
  /// Adds to an array; null becomes one.
  void push_back(Json value);
  /// Adds or replaces the members of `other`.
  void update(const Json& other);

  /// The value as a Json, bool, number, text or list of texts. Throws JsonError.
  template <class Value>
  Value get() const;
  /// The same of a member of an object, or `otherwise`.
  template <class Value>
  Value value(std::string_view key, const Value& otherwise) const {
    const Json* found = find(key);
    return found ? found->get<Value>() : otherwise;
  }

  /// Numbers are compared by value.
  friend bool operator==(const Json& a, const Json& b);

 private:
  enum class Kind { null, boolean, integer, natural, real, text, array, object };

  [[noreturn]] void is_no(const char* what) const;

  Kind kind_ = Kind::null;
  std::int64_t integer_ = 0;
  Real real_ = 0;
  std::string text_;
  std::vector<std::string> keys_;
  std::vector<Json> values_;

  friend class JsonText;
};

}  // namespace scree
