#include "crowd/plan/floor_plan_image.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>

#include "core/error.hpp"

namespace scree {

namespace {

int part(Colour colour, int shift) {
  return static_cast<int>(colour >> shift & 0xFFU);
}

/// Frees what libpng holds.
struct PngImage {
  png_image image{};
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

/// A corner of pixels, counted from the lower left.
struct Corner {
  int x;
  int y;
};

/// Follows the edges of the pixels of a mask, which has a rim of empty pixels: rings with the pixels on the
/// left, only the corners where they turn. Where two pixels meet at a corner only, the ring stays at its
/// pixel.
std::vector<std::vector<Corner>> follow_edges(const std::vector<char>& mask, int width, int height) {
  const auto filled_at = [&](int x, int y) {
    return mask[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                static_cast<std::size_t>(x)] != 0;
  };
  // Every ring has an edge that goes to the right, below a pixel, that begins at a turn.
  std::vector<char> seen(mask.size(), 0);
  std::vector<std::vector<Corner>> rings;
  constexpr std::array<Corner, 4> step{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  for (int y = 1; y < height; ++y)
    for (int x = 1; x < width; ++x) {
      const auto at =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
      const bool is_edge = filled_at(x, y) && !filled_at(x, y - 1);
      if (!is_edge || seen[at] != 0) continue;
      std::vector<Corner>& ring = rings.emplace_back();
      Corner here{x, y};
      int heading = 0;
      while (true) {
        if (heading == 0) {
          char& mark = seen[static_cast<std::size_t>(here.y) * static_cast<std::size_t>(width) +
                            static_cast<std::size_t>(here.x)];
          if (mark != 0) break;
          mark = 1;
        }
        const Corner forward = step[heading];
        here = {here.x + forward.x, here.y + forward.y};
        // The two pixels ahead, to the left and to the right of the heading.
        const Corner left = step[(heading + 1) % 4];
        const auto ahead = [&](int side) {
          return filled_at(here.x + (forward.x + side * left.x - 1) / 2,
                           here.y + (forward.y + side * left.y - 1) / 2);
        };
        const int turn = !ahead(1) ? 1 : ahead(-1) ? 3 : 0;
        if (turn != 0) ring.push_back(here);
        heading = (heading + turn) % 4;
      }
    }
  return rings;
}

/// Turns a ring of pixel edges into one without steps: see PlanImage::all_but.
Ring without_steps(const std::vector<Corner>& corners) {
  const std::size_t n = corners.size();
  const auto at = [&](std::size_t i) { return corners[i % n]; };
  // Run i goes from corner i to corner i + 1.
  const auto length = [&](std::size_t i) {
    return std::abs(at(i + 1).x - at(i).x) + std::abs(at(i + 1).y - at(i).y);
  };
  const auto turns_left = [&](std::size_t i) {
    const Corner before = at(i + n - 1), here = at(i), after = at(i + 1);
    return static_cast<std::int64_t>(here.x - before.x) * (after.y - here.y) -
               static_cast<std::int64_t>(here.y - before.y) * (after.x - here.x) >
           0;
  };
  const auto is_step = [&](std::size_t i) { return length(i) == 1 && turns_left(i) != turns_left(i + 1); };
  // How far from a corner of a step its run still belongs to the slanted wall [pixels]: half of what goes on
  // behind the step, so that a straight wall that ends in a slanted one stays in its place.
  const auto share = [&](std::size_t run, std::size_t behind) {
    return 0.5 * std::min(length(run), length(behind));
  };
  Ring ring;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t before = (i + n - 1) % n;
    const std::size_t next = (i + 1) % n;
    const Vec<2> start{{static_cast<Real>(at(i).x), static_cast<Real>(at(i).y)}};
    const Vec<2> end{{static_cast<Real>(at(next).x), static_cast<Real>(at(next).y)}};
    const auto whole = static_cast<Real>(length(i));
    if (is_step(i)) {
      ring.push_back(0.5 * (start + end));
      continue;
    }
    const Real first = is_step(before) ? share(i, (before + n - 1) % n) : 0;
    const Real last = whole - (is_step(next) ? share(i, (next + 1) % n) : 0);
    ring.push_back(start + (first / whole) * (end - start));
    // Where no step follows, the next run gives the corner.
    if (is_step(next) && last > first) ring.push_back(start + (last / whole) * (end - start));
  }
  return ring;
}

}  // namespace

Colour read_colour(const std::string& text, const std::string& where) {
  const bool valid =
      text.size() == 7 && text[0] == '#' &&
      std::all_of(text.begin() + 1, text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!valid) throw InputError(fmt::format("{}: \"{}\" is no colour; the form is \"#rrggbb\"", where, text));
  return static_cast<Colour>(std::stoul(text.substr(1), nullptr, 16));
}

PlanImage::PlanImage(const std::string& path, Real pixel, const Vec<2>& origin, int tolerance,
                     const std::string& source)
    : pixel_(pixel), origin_(origin), tolerance_(tolerance) {
  PngImage png;
  const auto fail = [&] {
    throw InputError(fmt::format("{}: cannot be read as PNG: {}", source, png.image.message));
  };
  if (png_image_begin_read_from_file(&png.image, path.c_str()) == 0) fail();
  png.image.format = PNG_FORMAT_RGB;
  constexpr std::int64_t max_pixels = 400'000'000;  // 1.2 GB on each rank while it is read
  const auto n_pixels = static_cast<std::int64_t>(png.image.width) * png.image.height;
  if (n_pixels > max_pixels)
    throw InputError(fmt::format("{}: {} x {} pixels; at most {} are read", source, png.image.width,
                                 png.image.height, max_pixels));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n_pixels) * 3);
  const png_color white{255, 255, 255};
  if (png_image_finish_read(&png.image, &white, bytes.data(), 0, nullptr) == 0) fail();

  width_ = static_cast<int>(png.image.width);
  height_ = static_cast<int>(png.image.height);
  for (int y = height_ - 1; y >= 0; --y) {
    first_run_.push_back(runs_.size());
    const std::uint8_t* byte =
        bytes.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) * 3;
    for (int x = 0; x < width_; ++x, byte += 3) {
      const Colour colour = static_cast<Colour>(byte[0]) << 16 | static_cast<Colour>(byte[1]) << 8 |
                            static_cast<Colour>(byte[2]);
      if (x == 0 || runs_.back().colour != colour) runs_.push_back({x, colour});
    }
  }
  first_run_.push_back(runs_.size());
}

bool PlanImage::matches(Colour a, Colour b) const {
  for (const int shift : {0, 8, 16})
    if (std::abs(part(a, shift) - part(b, shift)) > tolerance_) return false;
  return true;
}

/// Which pixels are (or are not) of the colour, row by row from the bottom, with a rim of one empty pixel.
std::vector<char> PlanImage::mask(Colour colour, bool equal) const {
  const std::size_t stride = static_cast<std::size_t>(width_) + 2;
  std::vector<char> mask(stride * (static_cast<std::size_t>(height_) + 2), 0);
  for (int y = 0; y < height_; ++y) {
    const std::span<const Run> runs = row(y);
    char* const first = mask.data() + (static_cast<std::size_t>(y) + 1) * stride + 1;
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (matches(runs[i].colour, colour) == equal)
        std::fill(first + runs[i].begin, first + (i + 1 < runs.size() ? runs[i + 1].begin : width_), char{1});
  }
  return mask;
}

Geometry PlanImage::outlines_of(const Geos& geos, const std::vector<char>& mask) const {
  // Rings around pixels are counter-clockwise, holes clockwise.
  std::vector<std::vector<Corner>> rings = follow_edges(mask, width_ + 2, height_ + 2);
  // The rim shifts pixels by one.
  const auto placed = [&](const Vec<2>& corner) { return origin_ + pixel_ * (corner - filled<2>(1)); };
  std::vector<Geometry> outlines, holes;
  for (const std::vector<Corner>& corners : rings) {
    Ring ring = without_steps(corners);
    for (Vec<2>& x : ring) x = placed(x);
    const bool is_outline = signed_area(ring) > 0;
    Geometry polygon = geos.polygon(ring);
    // Two pixels that meet at a corner make a ring that touches itself.
    if (!geos.is_valid(polygon)) polygon = geos.made_valid(polygon);
    (is_outline ? outlines : holes).push_back(std::move(polygon));
  }
  Geometry area = geos.united(geos.collection(std::move(outlines)));
  if (!holes.empty()) area = geos.difference(area, geos.united(geos.collection(std::move(holes))));
  // A hair more than half a pixel, or rounding would decide about corners that are off by just that much.
  const Real tolerance = 0.51 * pixel_;
  return geos.require(GEOSTopologyPreserveSimplify_r(geos.handle(), area.get(), tolerance),
                      "simpler outlines");
}

Geometry PlanImage::all_but(const Geos& geos, Colour walls, const std::string& source) const {
  const std::vector<char> walkable = mask(walls, false);
  if (std::ranges::find(walkable, char{1}) == walkable.end())
    throw InputError(
        fmt::format("{}: has no walkable pixel: all are of the colour #{:06x} of walls", source, walls));
  return outlines_of(geos, walkable);
}

Geometry PlanImage::all_of(const Geos& geos, Colour colour, const std::string& source) const {
  const std::vector<char> chosen = mask(colour, true);
  if (std::ranges::find(chosen, char{1}) == chosen.end())
    throw InputError(fmt::format("{}: no pixel of the plan has the colour #{:06x}; there are {}", source,
                                 colour, colours_text()));
  return outlines_of(geos, chosen);
}

/// The colours that most pixels have, with their numbers.
std::string PlanImage::colours_text() const {
  std::map<Colour, std::int64_t> count;
  for (int y = 0; y < height_; ++y) {
    const std::span<const Run> runs = row(y);
    for (std::size_t i = 0; i < runs.size(); ++i)
      count[runs[i].colour] += (i + 1 < runs.size() ? runs[i + 1].begin : width_) - runs[i].begin;
  }
  std::vector<std::pair<std::int64_t, Colour>> sorted;
  for (const auto& entry : count) sorted.emplace_back(-entry.second, entry.first);
  std::ranges::sort(sorted);
  constexpr std::size_t max_named = 8;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(max_named, sorted.size()); ++i)
    texts.push_back(fmt::format("#{:06x} ({} pixels)", sorted[i].second, -sorted[i].first));
  std::string text = fmt::format("{}", fmt::join(texts, ", "));
  if (sorted.size() > max_named) text += fmt::format(" and {} more", sorted.size() - max_named);
  return text;
}

}  // namespace scree
