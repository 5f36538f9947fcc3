// What the programs of peers share: the scene that box_scenes.py writes, and what they print and write.
#pragma once
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

struct Box {
  std::array<double, 3> edges, x;
  std::array<double, 4> turn;  // w, x, y, z
};

struct Scene {
  struct Plane {
    std::array<double, 3> point, normal;
  };
  double density, friction;
  std::vector<Plane> planes;
  std::vector<Box> boxes;
};

/// Arguments of a program: scene, iterations of its solver, step [s], steps.
struct Task {
  Scene scene;
  int iterations, n_steps;
  double step;
};

inline Task read_task(int n_arguments, char** arguments) {
  std::ifstream file(n_arguments == 5 ? arguments[1] : "");
  std::size_t n_planes = 0, n_boxes = 0;
  Task task;
  if (!(file >> n_planes >> n_boxes >> task.scene.density >> task.scene.friction)) {
    std::fprintf(stderr, "usage: %s SCENE ITERATIONS STEP STEPS\n", arguments[0]);
    std::exit(2);
  }
  const auto read = [&](auto& values) {
    for (double& value : values) file >> value;
  };
  task.scene.planes.resize(n_planes);
  for (auto& plane : task.scene.planes) read(plane.point), read(plane.normal);
  task.scene.boxes.resize(n_boxes);
  for (auto& box : task.scene.boxes) read(box.edges), read(box.x), read(box.turn);
  if (!file) {
    std::fprintf(stderr, "%s: %s ends early\n", arguments[0], arguments[1]);
    std::exit(2);
  }
  task.iterations = std::atoi(arguments[2]);
  task.step = std::atof(arguments[3]);
  task.n_steps = std::atoi(arguments[4]);
  return task;
}

inline double mass_of(const Scene& scene, const Box& box) {
  return scene.density * box.edges[0] * box.edges[1] * box.edges[2];
}

/// Takes the steps, prints their wall seconds, and writes end.txt: centre and turn of each box.
template <class Step, class Pose>
void run(const Task& task, Step&& step, Pose&& pose) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < task.n_steps; ++i) step();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  std::printf("steps took %.9g s\n", seconds.count());
  std::FILE* file = std::fopen("end.txt", "w");
  for (std::size_t i = 0; i < task.scene.boxes.size(); ++i) {
    const std::array<double, 7> at = pose(i);
    for (const double value : at) std::fprintf(file, "%.17g ", value);
    std::fprintf(file, "\n");
  }
  std::fclose(file);
}
