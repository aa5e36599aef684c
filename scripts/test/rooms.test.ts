import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { drawInto } from '../rooms/draw.mjs'
import { findFaults, findForeignPackages } from '../rooms/find-faults.mjs'
import { readModule } from '../rooms/read-module.mjs'
import { readPackage } from '../rooms/read-package.mjs'

const ROOMS = [
  { files: ['index.ts'], holds: 'the public names' },
  { room: 'endpoints', holds: 'one file per URL' },
  { room: 'gateways', holds: 'the contract' },
  { room: 'gateways/stripe', holds: 'one provider', says: ['stripe'] },
  { files: ['errors.ts'], holds: 'what everybody may know' },
]

const SOUND = {
  'index.ts': "export { token } from './endpoints/token.ts'",
  'endpoints/token.ts': "import { Wrong } from '../errors.ts'\nexport const token = Wrong",
  'gateways/stripe/provider.ts': "import '../../errors.ts'\nexport const name = 'stripe'",
  'errors.ts': '/** Stripe may be explained in a comment. */\nexport class Wrong extends Error {}',
}

function faultsOf(files: Record<string, string>): string[] {
  const modules = Object.entries({ ...SOUND, ...files }).map(([path, text]) =>
    readModule(path, text),
  )
  return findFaults(ROOMS, modules)
}

describe('the check of the folders of a package (rooms)', () => {
  it('accepts imports that all point down', () => {
    expect(faultsOf({})).toEqual([])
  })

  it.each([
    ['an import', "import { token } from './endpoints/token.ts'\nexport const x = token"],
    ['an import of a type', "import type { token } from './endpoints/token.ts'"],
    ['a type in passing', "export type X = typeof import('./endpoints/token.ts').token"],
    ['an import on demand', "export const x = () => import('./endpoints/token.ts')"],
    ['an export', "export { token } from './endpoints/token.ts'"],
  ])('rejects %s that points up', (_, text) => {
    const faults = faultsOf({
      'errors.ts': text,
      'endpoints/token.ts': 'export const token = 1',
    })
    expect(faults).toEqual([
      expect.stringMatching(
        /^errors\.ts:1 goes up: errors\.ts may not import endpoints\/token\.ts/,
      ),
    ])
  })

  it('rejects an import cycle, even of types, and shows it', () => {
    const faults = faultsOf({
      'endpoints/a.ts': "import type { B } from './b.ts'\nexport type A = B",
      'endpoints/b.ts': "export type { A as B } from './c.ts'",
      'endpoints/c.ts': "import type { A } from './a.ts'\nexport type { A }",
    })
    expect(faults).toEqual([
      'endpoints/a.ts → endpoints/b.ts → endpoints/c.ts → endpoints/a.ts: a circle',
    ])
  })

  it.each([
    ['a string', "export const path = '/stripe/webhook'"],
    ['a name', 'export const stripeId = 1'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a template
    ['part of a template', 'export const name = (id: string) => `stripe ${id}`'],
    ['the path of an import', "export { name } from '../gateways/stripe/provider.ts'"],
  ])('rejects the name of a provider outside its folder, in %s', (_, text) => {
    const faults = faultsOf({ 'endpoints/hook.ts': text })
    expect(faults).toEqual([expect.stringMatching(/^endpoints\/hook\.ts:1 says "stripe"/)])
  })

  it('rejects a file that no room lists, and an import of a file that does not exist', () => {
    expect(faultsOf({ 'helpers.ts': '' })).toEqual([expect.stringMatching(/^helpers\.ts belongs/)])
    expect(faultsOf({ 'endpoints/lost.ts': "import './nowhere.ts'" })).toEqual([
      'endpoints/lost.ts:1 imports endpoints/nowhere.ts: no such file',
    ])
  })

  describe('in a room with a list of open files', () => {
    const room = { room: 'features', holds: 'one folder per feature', open: { mail: ['send.ts'] } }
    const files = {
      'features/mail/send.ts': "import './queue.ts'",
      'features/mail/queue.ts': '',
      'features/mail/contract.ts': '',
      'features/refunds/refund.ts': "import '../mail/send.ts'\nimport '../mail/contract.ts'",
      'features/all.ts': "import './mail/queue.ts'",
    }
    const check = (changed: Record<string, string>, ...others: (typeof ROOMS)[number][]) =>
      findFaults(
        [room, ...others],
        Object.entries({ ...files, ...changed }).map(([path, text]) => readModule(path, text)),
      )

    it('accepts imports of open files and contracts, and the list of all features', () => {
      expect(check({})).toEqual([])
    })

    it('rejects an import of another file of another folder, even of a type', () => {
      const text = "import '../mail/send.ts'\nimport type { Queue } from '../mail/queue.ts'"
      expect(check({ 'features/refunds/refund.ts': text })).toEqual([
        'features/refunds/refund.ts:2 reaches inside features/mail/: import what it has open (rooms.json), or open features/mail/queue.ts',
      ])
    })

    it('rejects an open file that no other folder imports', () => {
      expect(check({ 'features/refunds/refund.ts': '' })).toEqual([
        'features/mail/send.ts is open, but no other folder imports it',
      ])
    })

    it('rejects another room that takes a file out of the folder', () => {
      const core = { files: ['features/*/queue.ts'], holds: 'the base of all features' }
      expect(check({}, core)).toEqual([
        expect.stringMatching(/^features\/\*\/queue\.ts takes .* out of features\/$/),
      ])
    })
  })

  it('rejects an import of a package that this one may not use', () => {
    const modules = [readModule('a.ts', "import { createBilling } from '@tollgate/billing'")]
    expect(findForeignPackages(['database'], modules)).toEqual([
      'a.ts:1 may not use @tollgate/billing',
    ])
    expect(findForeignPackages(['billing'], modules)).toEqual([])
  })
})

const packages: readonly { package: string; uses: readonly string[] }[] = JSON.parse(
  readFileSync('packages/rooms.json', 'utf8'),
)

it('packages/rooms.json lists every package', () => {
  const folders = readdirSync('packages', { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  )
  expect(packages.map((each) => each.package).sort()).toEqual(
    folders.map(({ name }) => name).sort(),
  )
})

describe.each(packages)('packages/$package', ({ package: name, uses }) => {
  const found = readPackage(`packages/${name}`)
  const { rooms, modules } = found

  it('matches its diagram in docs/architecture.md (npm run draw:rooms writes it)', () => {
    const page = readFileSync('docs/architecture.md', 'utf8')
    expect(drawInto(page, name, found)).toBe(page)
  })

  it('imports only from the rooms and packages that rooms.json allows', () => {
    expect([...findFaults(rooms, modules), ...findForeignPackages(uses, modules)]).toEqual([])
  })
})
