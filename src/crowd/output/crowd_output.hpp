#pragma once
#include "crowd/output/crowd_output_settings.hpp"
#include "io/environment_output.hpp"

namespace scree {

class CrowdEnvironment;

/// What a crowd adds to the results of a run: [output.trajectory], [output.fields] and CrowdWriter.
class CrowdOutput final : public EnvironmentOutput<2> {
 public:
  explicit CrowdOutput(CrowdEnvironment& environment) : environment_(environment) {}

  void describe(Section& output) override { settings_.describe(output); }
  void refuse(std::string_view scheme_of_run) const override;
  void check(const Box<2>& box, Real dt) const override;
  bool is_asked_for() const override { return settings_.every.ever() || settings_.fps > 0; }
  std::unique_ptr<EnvironmentWriter<2>> make_writer(const OutputContext<2>& context) override;
  std::vector<std::string> vtk_tables() const override;
  std::span<const std::string_view> endings() const override;
  std::string_view summary_key() const override { return "evacuation"; }
  std::vector<EnsembleQuantity> quantities(std::span<const std::string> summaries) const override;

 private:
  CrowdEnvironment& environment_;
  CrowdOutputSettings settings_;
};

}  // namespace scree
