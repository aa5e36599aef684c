import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../src/app.ts'
import { commands } from '../src/cli/commands/all-commands.ts'
import { parseSettings } from '../src/config/settings.ts'
import { variables } from '../src/config/variables.ts'
import { policies } from '../src/limits/policies.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

const page = readFileSync(new URL('../../../docs/reference/service.md', import.meta.url), 'utf8')

/** The rows of the first table below a heading, as cells without their back-ticks. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}
const plain = (cell = '') => cell.replaceAll('`', '')
const listOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')

describe('docs/reference/service.md', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service.stop())

  it('lists every variable of the environment, and no other', () => {
    expect(rowsBelow('Environment').map(([name]) => plain(name))).toEqual(Object.keys(variables))
  })

  it('lists every setting of the configuration file with its default', () => {
    const settings = parseSettings({})
    const rows = rowsBelow('Configuration file')
    expect(rows.map(([name]) => plain(name))).toEqual(Object.keys(settings))
    const said = new Map(rows.map(([name, value]) => [plain(name), listOf(value)]))
    expect(said.get('name')).toEqual([settings.name])
    expect(said.get('scopes')).toEqual(Object.keys(settings.scopes))
    expect(said.get('plans')).toEqual(settings.plans.map(({ id }) => id))
    expect(said.get('currency')).toEqual([settings.currency])
    expect(said.get('registration')).toEqual([String(settings.registration)])
    expect(said.get('invoice')).toEqual(Object.values(settings.invoice))
    expect(said.get('accessTokensExpireIn')).toEqual([settings.accessTokensExpireIn])
    expect(said.get('refreshTokensExpireIn')).toEqual([settings.refreshTokensExpireIn])
  })

  it('lists every command with its options', () => {
    const documented = rowsBelow('Commands').map(([name, options]) => [
      plain(name),
      listOf(options),
    ])
    const real = Object.entries(commands).map(([words, { options = [] }]) => [
      words,
      options.map(({ flags }) => flags.split(' ')[0]),
    ])
    expect(documented).toEqual(real)
  })

  it('lists every route of the service itself', async () => {
    const { config, remove } = await testConfig()
    const app = createApp({ ...service, config, isLeaving: () => false })
    const real = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    const documented = rowsBelow('Routes').map(([method, path]) => `${method} ${plain(path)}`)
    expect(documented.sort()).toEqual([...new Set(real)].sort())
    await remove()
  })

  it('lists every limit with its numbers', () => {
    const documented = rowsBelow('Limits').map(([name, points, within]) => ({
      name: plain(name),
      points: Number(points),
      seconds: Number.parseInt(within ?? '', 10) * 60,
    }))
    const real = Object.entries(policies).map(([name, policy]) => ({ name, ...policy }))
    expect(documented).toEqual(real)
  })

  it('lists every metric with its labels', async () => {
    const all = await service.metrics.registry.getMetricsAsJSON()
    const real = all.map(({ name }) => name).filter((name) => name.startsWith('tollgate_'))
    const rows = rowsBelow('Metrics')
    expect(rows.map(([name]) => plain(name)).sort()).toEqual(real.sort())
    for (const [name, labels] of rows) {
      const metric = service.metrics.registry.getSingleMetric(plain(name))
      expect((metric as unknown as { labelNames: string[] }).labelNames).toEqual(listOf(labels))
    }
  })
})
