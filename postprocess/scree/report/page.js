"use strict";
// Moves the people of the plan. All data are in this file: the element #crowd holds them, see tracks.py and crowd.py.
(() => {
  const source = document.getElementById("crowd");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const $ = (id) => document.getElementById(id);
  const stages = [...document.querySelectorAll("figure.floor")].map((figure) => ({
    figure, svg: figure.querySelector("svg"), canvas: figure.querySelector("canvas") }));
  const grey = "#9a9a9a";

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

  // Tracks with all their places, in centimetres.
  function decoded(tracks) {
    const heads = new Int32Array(bytes(tracks.heads));
    const steps = tracks.bytes_per_step === 1 ? new Int8Array(bytes(tracks.steps)) : new Int16Array(bytes(tracks.steps));
    const result = [];
    for (let head = 0, next = 0; head < heads.length; head += 6) {
      const [person, level, first, count, x0, y0] = heads.subarray(head, head + 6);
      const x = new Int32Array(count), y = new Int32Array(count);
      x[0] = x0;
      y[0] = y0;
      for (let k = 1; k < count; ++k, next += 2) {
        x[k] = x[k - 1] + steps[next];
        y[k] = y[k - 1] + steps[next + 1];
      }
      result.push({ person, level, first, x, y });
    }
    return result;
  }

  const tracks = data.tracks ? decoded(data.tracks) : [];
  const fps = data.tracks ? data.tracks.fps : 1;
  const last = data.tracks ? Math.max(data.tracks.frames - 1, 0) : 0;
  let now = 0;              // in frames
  let playing = false;

  // The last row of a table of changes at or before a time; -1 before the first.
  function rowAt(times, time) {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time + 1e-6) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  function drawPeople() {
    const ratio = window.devicePixelRatio || 1;
    const frame = Math.floor(now), share = now - frame;
    for (const [floor, { figure, svg, canvas }] of stages.entries()) {
      if (figure.hidden) continue;
      const box = svg.getBoundingClientRect();
      const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
      const pen = canvas.getContext("2d");
      pen.clearRect(0, 0, width, height);
      const [, , metresWide, metresHigh] = svg.getAttribute("viewBox").split(" ").map(Number);
      const scale = Math.min(width / metresWide, height / metresHigh);
      const left = (width - scale * metresWide) / 2, top = (height - scale * metresHigh) / 2;
      const [lowX, highY] = [data.lower[0], data.lower[1] + metresHigh];
      const groups = new Map();
      for (const track of tracks) {
        const k = frame - track.first;
        if (k < 0 || k >= track.x.length || !data.floors_of_level[track.level].includes(floor)) continue;
        const next = Math.min(k + 1, track.x.length - 1);
        const x = (track.x[k] + share * (track.x[next] - track.x[k])) / 100;
        const y = (track.y[k] + share * (track.y[next] - track.y[k])) / 100;
        const exit = data.tracks.exit[track.person];
        if (!groups.has(exit)) groups.set(exit, []);
        groups.get(exit).push(left + scale * (x - lowX), top + scale * (highY - y), scale * data.tracks.radius[track.person] / 100);
      }
      for (const [exit, disks] of groups) {
        pen.fillStyle = exit < 0 ? grey : data.exits[exit].colour;
        pen.beginPath();
        for (let k = 0; k < disks.length; k += 3) {
          const radius = Math.max(disks[k + 2], 1);
          pen.moveTo(disks[k] + radius, disks[k + 1]);
          pen.arc(disks[k], disks[k + 1], radius, 0, 2 * Math.PI);
        }
        pen.fill();
      }
    }
  }

  function showDoors(time) {
    for (const door of document.querySelectorAll(".exit")) {
      const times = data.open[door.dataset.exit];
      if (times) door.classList.toggle("closed", !times.some(([begin, until]) => begin <= time && (until === null || time < until)));
    }
    for (const end of document.querySelectorAll(".connector-end[data-closes]"))
      end.classList.toggle("closed", time >= Number(end.dataset.closes));
  }

  function showNumbers(time) {
    $("clock").textContent = time.toFixed(fps > 10 ? 2 : 1);
    $("time").value = Math.floor(now);
    if (!data.inside) return;
    const row = rowAt(data.inside.time, time);
    $("inside").textContent = row < 0 ? "-" : data.inside.inside[row];
    for (const [number, exit] of data.exits.entries()) {
      const left = data.inside.left[exit.name];
      const place = document.querySelector(`[data-left="${number}"]`);
      if (left && place) place.textContent = row < 0 ? 0 : left[row];
    }
  }

  function showCursors(time) {
    for (const chart of document.querySelectorAll("svg.chart[id]")) {
      const { x0, x1, left, right } = chart.dataset;
      const x = Number(left) + (time - x0) / (x1 - x0) * (right - left);
      const line = chart.querySelector(".cursor");
      line.style.display = x <= Number(right) ? "inline" : "none";
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    }
  }

  function show() {
    const time = now / fps;
    drawPeople();
    showDoors(time);
    if (!data.tracks) return;
    showNumbers(time);
    showCursors(time);
  }

  function setPlaying(wanted) {
    playing = wanted;
    $("play").textContent = playing ? "Pause" : "Play";
    if (!playing) return;
    if (now >= last) now = 0;
    let before = performance.now();
    requestAnimationFrame(function advance(moment) {
      if (!playing) return;
      now = Math.min(now + Math.max(moment - before, 0) / 1000 * fps * Number($("speed").value), last);
      before = moment;
      show();
      if (now >= last) setPlaying(false); else requestAnimationFrame(advance);
    });
  }

  function chooseFloor(wanted) {
    for (const [floor, { figure }] of stages.entries()) figure.hidden = wanted !== "all" && Number(wanted) !== floor;
    document.querySelector(".floors").classList.toggle("one", wanted !== "all");
    show();
  }

  if (data.tracks) {
    $("time").max = last;
    $("end").textContent = (last / fps).toFixed(1);
    $("time").addEventListener("input", () => { now = Number($("time").value); show(); });
    $("play").addEventListener("click", () => setPlaying(!playing));
    if ($("floor")) $("floor").addEventListener("change", () => chooseFloor($("floor").value));
    for (const chart of document.querySelectorAll("svg.chart[id]")) {
      chart.addEventListener("click", (event) => {
        const box = chart.getBoundingClientRect(), { x0, x1, left, right } = chart.dataset;
        const x = (event.clientX - box.left) / box.width * chart.viewBox.baseVal.width;
        const time = Number(x0) + (x - left) / (right - left) * (x1 - x0);
        now = Math.round(Math.min(Math.max(time * fps, 0), last));
        show();
      });
    }
  }
  // report.html#t=25 opens at 25 s.
  const wanted = /^#t=([0-9.]+)$/.exec(location.hash);
  if (wanted) now = Math.round(Math.min(Number(wanted[1]) * fps, last));
  window.addEventListener("resize", show);
  window.addEventListener("beforeprint", show);
  show();
})();
