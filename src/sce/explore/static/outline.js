// What is drawn over the points: the selection in the making, the row that was clicked, lines to its neighbours in the data.

const LINE = "#c2185b";

/** Adds the layer to the scene. */
export function outlineLayer(page) {
  const { scene, store } = page;
  let shape = null;
  page.onoutline = (other) => {
    shape = other;
    scene.drawOver();
  };
  store.on(["picked"], () => scene.drawOver());
  scene.layers.push((context) => {
    drawNeighbors(context, scene, store.state.picked);
    if (shape?.polygon) drawPolygon(context, shape.polygon);
    if (shape?.brush) drawBrush(context, scene, shape);
  });
}

function drawPolygon(context, polygon) {
  context.beginPath();
  polygon.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.fillStyle = "rgba(194, 24, 91, 0.08)";
  context.fill();
  context.strokeStyle = LINE;
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  context.stroke();
  context.setLineDash([]);
}

function drawBrush(context, scene, { brush: [x, y], radius, painted }) {
  context.fillStyle = "rgba(194, 24, 91, 0.5)";
  const step = Math.max(1, Math.floor(painted.length / 2e5));
  for (let i = 0; i < painted.length; i += step) {
    if (!painted[i]) continue;
    const [px, py] = scene.place(i);
    context.fillRect(px / scene.ratio - 1, py / scene.ratio - 1, 2, 2);
  }
  context.strokeStyle = LINE;
  context.lineWidth = 1.5;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}

function drawNeighbors(context, scene, picked) {
  if (!picked) return;
  const at = (i) => scene.place(i).map((value) => value / scene.ratio);
  const [x, y] = at(picked.row);
  context.strokeStyle = "rgba(194, 24, 91, 0.75)";
  context.lineWidth = 1.2;
  context.beginPath();
  for (const row of picked.near ?? []) {
    context.moveTo(x, y);
    context.lineTo(...at(row));
  }
  context.stroke();
  for (const [row, radius] of [...(picked.near ?? []).map((row) => [row, 3]), [picked.row, 6]]) {
    context.beginPath();
    context.arc(...at(row), radius, 0, 2 * Math.PI);
    context.fillStyle = row === picked.row ? LINE : "#fff";
    context.fill();
    context.stroke();
  }
}
