#include "io/h5md.hpp"

#include "core/timing.hpp"
#include "run/field_columns.hpp"
#include "run/output.hpp"
#include "run/version.hpp"

namespace scree {
namespace {

/// The trajectory of all bodies, NAME.h5.
template <int D>
class H5mdOutput final : public Output<D> {
 public:
  std::string_view name() const override { return "h5md"; }

  void describe(Section& output, OutputSettings& /*shared*/) override {
    output.table("h5md", {.doc = "Trajectory in one HDF5 file (H5MD 1.1), bodies sorted by id"},
                 [&](Section& table) {
                   every_.describe(table, "frames");
                   describe_precision(table, options_.single_precision);
                   table.integer("compression", compression_,
                                 {.range = {.min = 0, .max = 9},
                                  .doc = "Level of gzip for what changes from frame to frame: 0 is none, "
                                         "1 the fastest, 9 the smallest"});
                 });
  }
  const OutputInterval& every() const override { return every_; }
  typename Output<D>::Size size_of_body() const override {
    return {.on_disk = D * (options_.single_precision ? 12.0 : 20.0)};  // position, image and velocity
  }

  void open(const OutputSetup<D>& setup) override {
    options_.compression = static_cast<int>(compression_);
    options_.fixed_bodies = setup.fixed_bodies;
    path_ = setup.files.with(".xdmf");
    const std::string path = setup.files.with(".h5");
    if (goes_on_with(setup.comm, path, setup.resume)) {
      file_ = std::make_unique<H5mdWriter>(
          H5mdWriter::resume(setup.comm, path, setup.resume->last_of(name()).step, options_));
      return;
    }
    const Box<D>& box = setup.state.box;
    H5mdHead head;
    head.creator_version = version::number;
    head.lower.assign(box.lower.component.begin(), box.lower.component.end());
    head.upper.assign(box.upper.component.begin(), box.upper.component.end());
    head.periodic.assign(box.periodic.begin(), box.periodic.end());
    head.texts = {{"resolved_deck", setup.resolved_deck}};
    head.provenance = setup.provenance;
    file_ = std::make_unique<H5mdWriter>(setup.comm, path, head, options_);
  }
  void write(const OutputFrame<D>& frame) override {
    Scope timer("h5md");
    const State<D>& state = frame.state;
    FieldColumns<D> columns(state, FieldFile::h5md);
    std::vector<Observable> observables;
    for (const CertificateEntry& entry : frame.stepper.certificate())
      observables.push_back({std::string(entry.name), std::string(entry.unit), entry.value});
    file_->append(state.clock.step, state.clock.time, state.bodies.id().first(state.bodies.n_owned()),
                  columns.columns(), observables);
  }
  void list_frames() override { file_->look_after(); }
  void complete() override { file_->complete(); }
  std::string file_to_view() const override { return path_; }

 private:
  OutputInterval every_;
  H5mdOptions options_{.single_precision = false};
  std::int64_t compression_ = 0;
  std::string path_;
  std::unique_ptr<H5mdWriter> file_;
};

}  // namespace

SCREE_PLUGIN(Output, h5md, H5mdOutput, "trajectory in one HDF5 file")

}  // namespace scree
