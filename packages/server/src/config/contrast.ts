/** The color schemes of the pages. */
export type ColorScheme = 'light' | 'dark'

/** The colors that text in the accent color is written on, as in assets/style.css. */
const SURFACES: Readonly<Record<ColorScheme, readonly [card: string, page: string]>> = {
  light: ['#ffffff', '#f5f6f8'],
  dark: ['#191d25', '#11141a'],
}
/** The text color of each scheme, towards which a color is moved for more contrast. */
const TOWARDS: Readonly<Record<ColorScheme, string>> = { light: '#000000', dark: '#ffffff' }

/** The smallest contrast between text and its background (WCAG 2.2, level AA). */
export const MIN_CONTRAST = 4.5

export const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text)

/** The colors of a scheme that follow from its accent color. */
export interface AccentColors {
  readonly accent: string
  /** Links and buttons under the pointer. */
  readonly strong: string
  /** Text on a button in the accent color. */
  readonly onAccent: string
  /** Background of the current place in the navigation. */
  readonly tint: string
}

/** Derives the colors of a scheme, all with enough contrast if the accent color has enough. */
export function deriveAccentColors(accent: string, scheme: ColorScheme): AccentColors {
  const [card] = SURFACES[scheme]
  const shares = [0.1, 0.08, 0.06, 0.04, 0.02]
  const tints = shares.map((share) => mix(card, accent, share))
  return {
    accent,
    strong: mix(accent, TOWARDS[scheme], 0.25),
    onAccent: contrast(accent, '#ffffff') >= contrast(accent, '#000000') ? '#ffffff' : '#000000',
    tint: tints.find((tint) => contrast(accent, tint) >= MIN_CONTRAST) ?? card,
  }
}

/**
 * Returns why a color cannot be the accent color of a scheme, with a similar color that can, or
 * `null` if it has enough contrast.
 */
export function findAccentProblem(color: string, scheme: ColorScheme): string | null {
  const lowest = lowestContrast(color, scheme)
  if (lowest >= MIN_CONTRAST) return null
  const found = Math.floor(lowest * 10) / 10
  return `${color} has a contrast of ${found}:1 on the ${scheme} pages, and text needs ${MIN_CONTRAST}:1. A similar color that is readable: ${makeReadable(color, scheme)}`
}

/** Moves a color towards the text color of the scheme, just as far as it needs to be readable. */
export function makeReadable(color: string, scheme: ColorScheme): string {
  for (let share = 0; share < 1; share += 0.05) {
    const moved = mix(color, TOWARDS[scheme], share)
    if (lowestContrast(moved, scheme) >= MIN_CONTRAST) return moved
  }
  return TOWARDS[scheme]
}

function lowestContrast(color: string, scheme: ColorScheme): number {
  return Math.min(...SURFACES[scheme].map((surface) => contrast(color, surface)))
}

/** The contrast ratio of two colors, 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(one: string, other: string, share: number): string {
  const [from, to] = [channels(one), channels(other)]
  const mixed = from.map((value, at) => Math.round(value + ((to[at] ?? 0) - value) * share))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}
