// The names of classes on the map.

import { THEMES } from "./colors.js";
import { anchors, drawNames, placeNames } from "./names.js";

const MOST_CLASSES = 400; // beyond this names say nothing

/** Adds the layer to the scene; `page.names` is what it wrote last. */
export function namesLayer(page) {
  const { scene, store } = page;
  let found = [], basis = null;
  page.names = [];
  scene.layers.push((context) => {
    const { names, column, ink, theme } = store.state;
    page.names = [];
    if (!names || column?.kind !== "classes" || column.names.length > MOST_CLASSES || scene.b) return;
    if (basis?.ink !== ink || basis.a !== scene.a) {
      basis = { ink, a: scene.a };
      found = anchors(column.codes, column.names.length, scene, ink.ink);
    }
    page.names = placeNames(context, scene, found, (code) => column.names[code - 1]);
    drawNames(context, page.names, THEMES[theme]);
  });
  store.on(["names"], () => scene.drawOver());
}
