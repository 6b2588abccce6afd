/** Where the view is. World coordinates go up, pixels (of CSS) go down; one scale for both axes. */

export interface Box {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

export interface Place {
  x: number;
  y: number;
  /** Pixels per unit of the world. */
  scale: number;
}

/** Beyond this, float32 positions would tremble; below the other, the map would be a speck. */
const NEAREST = 1e4;
const FARTHEST = 0.5;
/** Free pixels on each side of what is fitted. */
const MARGIN = 24;

export class Camera implements Place {
  x = 0;
  y = 0;
  scale = 1;
  width = 0;
  height = 0;
  /** Whether the view shows everything, because nobody has moved it; it then follows the size of the host. */
  fitted = true;
  private all: Box = { left: -1, bottom: -1, right: 1, top: 1 };

  /** The size of the host in pixels. */
  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    if (this.fitted) this.fit();
  }

  /** What the points fill. */
  setBounds(box: Box): void {
    this.all = box;
  }

  fit(): void {
    this.put(this.fitting(this.all));
    this.fitted = true;
  }

  /** The place from which all points are in view. */
  whole(): Place {
    return this.fitting(this.all);
  }

  /** How much larger things are than when everything is in view. */
  get zoom(): number {
    return this.scale / this.fitting(this.all).scale;
  }

  screenX(x: number): number {
    return (x - this.x) * this.scale + this.width / 2;
  }

  screenY(y: number): number {
    return (this.y - y) * this.scale + this.height / 2;
  }

  worldX(x: number): number {
    return (x - this.width / 2) / this.scale + this.x;
  }

  worldY(y: number): number {
    return this.y - (y - this.height / 2) / this.scale;
  }

  /** Move what is shown by pixels. */
  panBy(dx: number, dy: number): void {
    this.put({ x: this.x - dx / this.scale, y: this.y + dy / this.scale, scale: this.scale });
  }

  /** Zoom so that what is under this pixel stays there. */
  zoomAt(x: number, y: number, factor: number): void {
    const [worldX, worldY] = [this.worldX(x), this.worldY(y)];
    const scale = this.bounded(this.scale * factor);
    this.put({ x: worldX - (x - this.width / 2) / scale, y: worldY + (y - this.height / 2) / scale, scale });
  }

  put(place: Place): void {
    // The center stays among the points, so that nobody loses the map.
    this.x = Math.min(Math.max(place.x, this.all.left), this.all.right);
    this.y = Math.min(Math.max(place.y, this.all.bottom), this.all.top);
    this.scale = this.bounded(place.scale);
    this.fitted = false;
  }

  /** The nearest place from which a box is in view, or null if it already is. */
  placeToShow(box: Box): Place | null {
    const near = this.fitting(box);
    const inView =
      this.screenX(box.left) >= MARGIN &&
      this.screenX(box.right) <= this.width - MARGIN &&
      this.screenY(box.top) >= MARGIN &&
      this.screenY(box.bottom) <= this.height - MARGIN;
    return inView ? null : { ...near, scale: Math.min(near.scale, this.scale) };
  }

  private bounded(scale: number): number {
    const whole = this.fitting(this.all).scale;
    return Math.min(Math.max(scale, whole * FARTHEST), whole * NEAREST);
  }

  private fitting(box: Box): Place {
    const width = Math.max(this.width - 2 * MARGIN, 1);
    const height = Math.max(this.height - 2 * MARGIN, 1);
    const scale = Math.min(width / Math.max(box.right - box.left, 1e-6), height / Math.max(box.top - box.bottom, 1e-6));
    return { x: (box.left + box.right) / 2, y: (box.bottom + box.top) / 2, scale };
  }
}
