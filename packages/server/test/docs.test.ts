import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveRegistration } from '../../oauth/src/features/registration/settings.ts'
import { rates as libraryRates, shares, userCodeGuesses } from '../../oauth/src/limits/policies.ts'
import { FETCHES_IN_TOTAL, FETCHES_OF_ONE_NETWORK } from '../../oauth/src/outgoing/fetch-places.ts'
import { createApp } from '../src/app.ts'
import { commands } from '../src/cli/commands/all-commands.ts'
import { parseSettings } from '../src/config/settings.ts'
import { variables } from '../src/config/variables.ts'
import { failures, guesses, rates, turnPolicy } from '../src/limits/policies.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

const page = readFileSync(new URL('../../../docs/reference/service.md', import.meta.url), 'utf8')

/** The rows of the first table below a heading, as cells without their back-ticks. */
function rowsBelow(heading: string, text = page): string[][] {
  const [, section = ''] = text.split(`\n## ${heading}\n`)
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

describe('docs/reference/limits.md', () => {
  const limits = readFileSync(new URL('../../../docs/reference/limits.md', import.meta.url), 'utf8')
  const documented = (heading: string) =>
    rowsBelow(heading, limits).map(([name, points, within]) => ({
      name: plain(name),
      points: Number(points),
      seconds: Number.parseInt(within ?? '', 10) * 60,
    }))
  const real = (policies: Record<string, { points: number; seconds: number }>) =>
    Object.entries(policies).map(([name, { points, seconds }]) => ({ name, points, seconds }))

  it('threat Q6 lists everything that can be guessed, with its numbers', () => {
    const all = Object.entries({ ...guesses, userCodeGuesses })
    expect(documented('What can be guessed')).toEqual(
      all.map(([name, { most, seconds }]) => ({ name, points: most, seconds })),
    )
    expect(documented('Wrong secrets, codes and tokens')).toEqual(real(failures))
  })

  it('threat Q6 lists every rate, with its numbers', () => {
    const ofOptions = {
      clientRegistration: resolveRegistration({ policy: 'open' }).rate,
      clientMetadataDocuments: { points: 10, seconds: 60 },
    }
    expect(documented('How often')).toEqual(real({ ...rates, ...libraryRates, ...ofOptions }))
  })

  it('threat Q7 lists what is kept for strangers, with its bounds', () => {
    const rows = rowsBelow('What is kept', limits)
    const boundsOf = (what: string) => {
      const [, , one = '', total = ''] = rows.find(([name]) => name === what) ?? []
      return [one, total].map((cell) => Number.parseInt(cell.replaceAll(',', ''), 10))
    }
    const { pushedRequests, deviceCodes, unusedClients, ofProvenClient } = shares
    for (const [what, share] of [
      ['pushed requests', pushedRequests],
      ['device codes and their user codes', deviceCodes],
      ['clients that registered themselves or came by a document', unusedClients],
    ] as const) {
      expect(boundsOf(what)).toEqual([share.ofOneNetwork, share.total])
    }
    const ofClient = rows.filter(([what]) => what?.startsWith('the same of a client'))
    for (const [, , bound] of ofClient) expect(bound).toBe('10,000 of the client')
    expect(ofProvenClient.ofOneNetwork).toBe(10_000)
    expect(boundsOf('requests to addresses of clients under way')).toEqual([
      FETCHES_OF_ONE_NETWORK,
      FETCHES_IN_TOTAL,
    ])
    expect(boundsOf('passwords compared or waiting')).toEqual([
      turnPolicy.ofOneNetwork,
      turnPolicy.atOnce,
    ])
  })

  it('threat Q6 has bounds in total of a thousand networks at least', () => {
    const bounded = rowsBelow('What is kept', limits).flatMap(([what, , one = '', total = '']) =>
      /^\d/.test(one) && /^[\d,]+( unused)?$/.test(total)
        ? [{ what, one: Number.parseInt(one, 10), total: Number(total.replace(/\D/g, '')) }]
        : [],
    )
    expect(bounded.length).toBeGreaterThanOrEqual(4)
    for (const { one, total } of bounded) expect(total).toBeGreaterThanOrEqual(1000 * one)
  })
})
