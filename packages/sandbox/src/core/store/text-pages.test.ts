import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TextPages } from './text-pages.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', 'ü€😀', 'x'.repeat(300_000), '€'.repeat(400_000)),
)

it('gives each text back until it is removed, however long and in whatever script', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 20 }), (steps) => {
      const pages = new TextPages()
      const kept = new Map<number, string>()
      for (const [added, removesOne] of steps) {
        const address = pages.add(added)
        expect(kept.has(address)).toBe(false)
        kept.set(address, added)
        const [oldest] = kept.keys()
        if (removesOne && oldest !== undefined) {
          pages.remove(oldest)
          kept.delete(oldest)
        }
        for (const [at, wanted] of kept) expect(pages.read(at) === wanted).toBe(true)
      }
    }),
    { numRuns: 25 },
  )
})

it('gives pages back of which nothing is wanted, and says when most is waste', () => {
  const pages = new TextPages()
  const text = 'x'.repeat(10_000)
  const first: number[] = []
  for (let n = 0; n < 4000; n++) first.push(pages.add(text))
  expect(pages.isMostlyWaste).toBe(false)
  // One of fifty is left, on every page.
  for (const [n, address] of first.entries()) if (n % 50 !== 0) pages.remove(address)
  expect(pages.isMostlyWaste).toBe(true)
  for (const [n, address] of first.entries()) if (n % 50 === 0) pages.remove(address)
  expect(pages.isMostlyWaste).toBe(false)
})

it('keeps a text until each of its holders has removed it', () => {
  const pages = new TextPages()
  const address = pages.add('held twice', 2)
  for (let n = 0; n < 5; n++) pages.add('x'.repeat(500_000))
  pages.remove(address)
  expect([pages.read(address), pages.holdersOf(address)]).toEqual(['held twice', 1])
})
