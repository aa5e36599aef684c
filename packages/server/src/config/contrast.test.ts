import { describe, expect, it } from 'vitest'
import { contrast, deriveAccentColors, findAccentProblem, makeReadable } from './contrast.ts'

describe('contrast()', () => {
  it.each([
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#777777', '#ffffff', 4.48],
  ])('returns for %s and %s the ratio %f', (one, other, expected) => {
    expect(contrast(one, other)).toBeCloseTo(expected, 1)
    expect(contrast(other, one)).toBeCloseTo(expected, 1)
  })
})

describe('an accent color', () => {
  it.each([
    ['#2f5bd7', 'light', true],
    ['#93b2ff', 'dark', true],
    ['#ffcc00', 'light', false],
    ['#ffcc00', 'dark', true],
    ['#2f5bd7', 'dark', false],
    ['#777777', 'light', false],
  ] as const)('%s on the %s pages is readable: %s', (color, scheme, isReadable) => {
    const problem = findAccentProblem(color, scheme)
    expect(problem === null).toBe(isReadable)
    if (problem) expect(problem).toContain(makeReadable(color, scheme))
  })

  it.each(['#2f5bd7', '#ffcc00', '#00ff88', '#000000', '#ffffff', '#ff0000', '#808080'])(
    'derived from %s gives readable text and buttons in both schemes',
    (color) => {
      for (const scheme of ['light', 'dark'] as const) {
        const readable = makeReadable(color, scheme)
        expect(findAccentProblem(readable, scheme)).toBeNull()
        const { accent, strong, onAccent, tint } = deriveAccentColors(readable, scheme)
        expect(contrast(accent, onAccent)).toBeGreaterThanOrEqual(4.5)
        expect(contrast(strong, onAccent)).toBeGreaterThanOrEqual(4.5)
        expect(contrast(accent, tint)).toBeGreaterThanOrEqual(4.49)
      }
    },
  )
})
