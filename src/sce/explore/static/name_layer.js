// The names of classes on the map.

import { THEMES } from "./colors.js";
import { anchors, drawNames } from "./names.js";

const MOST_CLASSES = 400; // beyond this names say nothing

/** Adds the layer to the scene. */
export function namesLayer({ scene, store }) {
  let found = [], basis = null;
  scene.layers.push((context) => {
    const { names, column, ink, theme } = store.state;
    if (!names || column?.kind !== "classes" || column.names.length > MOST_CLASSES || scene.b) return;
    if (basis?.ink !== ink || basis.a !== scene.a) {
      basis = { ink, a: scene.a };
      found = anchors(column.codes, column.names.length, scene, ink.ink);
    }
    drawNames(context, scene, found, (code) => column.names[code - 1], THEMES[theme]);
  });
  store.on(["names"], () => scene.drawOver());
}
