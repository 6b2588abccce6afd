/** Colors that are not those of values: for what has no value, and for marks. From 0 to 255. */

export type Rgb = [number, number, number];

export interface Colors {
  /** Of rows without a look. */
  gray: Rgb;
  /** What stands out against the page: rims of known labels. */
  ink: Rgb;
  /** What the page is painted with: drawn around marks so that they stand out on points. */
  paper: Rgb;
  accent: Rgb;
  found: Rgb;
  broken: Rgb;
  link: Rgb;
}

const LIGHT: Colors = {
  gray: [160, 165, 172],
  ink: [28, 32, 38],
  paper: [255, 255, 255],
  accent: [11, 92, 173],
  found: [196, 64, 0],
  broken: [200, 30, 45],
  link: [90, 98, 110],
};
const DARK: Colors = {
  gray: [96, 102, 112],
  ink: [240, 242, 245],
  paper: [22, 24, 28],
  accent: [108, 182, 255],
  found: [255, 166, 87],
  broken: [255, 100, 105],
  link: [150, 158, 170],
};

export const colorsFor = (dark: boolean): Colors => (dark ? DARK : LIGHT);

export const css = (color: Rgb, alpha = 1): string => `rgb(${color.join(" ")} / ${alpha})`;
