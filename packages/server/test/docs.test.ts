import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveRegistration } from '../../oauth/src/features/registration/settings.ts'
import {
  requestRates as libraryRates,
  ticketQuotas,
  userCodeGuesses,
} from '../../oauth/src/limits/policies.ts'
import { MAX_FETCHES, MAX_FETCHES_PER_NETWORK } from '../../oauth/src/outgoing/fetch-slots.ts'
import { createApp } from '../src/app.ts'
import { commands } from '../src/cli/commands/all-commands.ts'
import { toFlagName } from '../src/cli/options.ts'
import { failures, guesses, queuePolicy, rates } from '../src/limits/policies.ts'
import { createWorkerMetrics } from '../src/workers/metrics.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

const page = readFileSync(new URL('../../../docs/reference/service.md', import.meta.url), 'utf8')

/** The rows of the first table below a heading, as cells without backticks. */
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
/** Whether a documented route with `{id}` or `{act}` describes a real one. */
function describesRoute(documented: string, real: string): boolean {
  const pattern = documented.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/ ]+')
  return new RegExp(`^${pattern}$`).test(real)
}
const listOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')

describe('docs/reference/service.md', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ options: { mailbox: true } })
  })
  afterAll(() => service.stop())

  it('lists every command with its options', () => {
    const documented = rowsBelow('Commands').map(([name, options]) => [
      plain(name),
      listOf(options),
    ])
    const real = Object.entries(commands).map(([words, { options }]) => [
      words,
      Object.keys(options).map(toFlagName),
    ])
    expect(documented).toEqual(real)
  })

  it('lists every route of the service', async () => {
    const { config, remove } = await testConfig({ settings: { teams: true } })
    const app = createApp({ ...service, config, isLeaving: () => false })
    const real = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    const documented = rowsBelow('Routes').map(([method, path]) => `${method} ${plain(path)}`)
    // docs/reference/admin.md lists those of the management API, and a test of scripts compares it.
    const listed = [...new Set(real)].filter((route) => !route.includes(' /admin/v1/'))
    expect(listed.filter((route) => !documented.some((row) => describesRoute(row, route)))).toEqual(
      [],
    )
    expect(documented.filter((row) => !listed.some((route) => describesRoute(row, route)))).toEqual(
      [],
    )
    await remove()
  })

  it('lists every metric with its labels', async () => {
    const all = await service.metrics.registry.getMetricsAsJSON()
    const real = all.map(({ name }) => name).filter((name) => name.startsWith('tollgate_'))
    const rows = rowsBelow('Metrics')
    expect(rows.flatMap(([names]) => listOf(names)).sort()).toEqual(real.sort())
    for (const [names, labels] of rows) {
      for (const name of listOf(names)) {
        const metric = service.metrics.registry.getSingleMetric(name)
        expect((metric as unknown as { labelNames: string[] }).labelNames).toEqual(listOf(labels))
      }
    }
  })
})

describe('docs/reference/service.md, about workers', () => {
  it('lists every metric of the main process', async () => {
    const text = await createWorkerMetrics(() => 2).read(new Map())
    const real = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
    expect(rowsBelow('Metrics of workers').map(([name]) => plain(name))).toEqual(real)
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

  it('lists every limit for guesses, with its numbers (threat Q6)', () => {
    const all = Object.entries({ ...guesses, userCodeGuesses })
    expect(documented('Guessing')).toEqual(
      all.map(([name, { max, seconds }]) => ({ name, points: max, seconds })),
    )
    expect(documented('Wrong secrets, codes and tokens')).toEqual(real(failures))
  })

  it('lists every rate limit, with its numbers (threat Q6)', () => {
    const ofOptions = {
      clientRegistration: resolveRegistration({ policy: 'open' }).rate,
      clientMetadataDocuments: { points: 10, seconds: 60 },
    }
    expect(documented('Request rates')).toEqual(real({ ...rates, ...libraryRates, ...ofOptions }))
  })

  it('lists all data that callers can create without authentication, with its limits (threat Q7)', () => {
    const rows = rowsBelow('Storage', limits)
    const boundsOf = (what: string) => {
      const [, , one = '', total = ''] = rows.find(([name]) => name === what) ?? []
      return [one, total].map((cell) => Number.parseInt(cell.replaceAll(',', ''), 10))
    }
    const { pushedRequests, deviceCodes, unusedClients, ofProvenClient } = ticketQuotas
    for (const [what, share] of [
      ['pushed requests', pushedRequests],
      ['device codes and their user codes', deviceCodes],
      ['clients that registered themselves or have a metadata document', unusedClients],
    ] as const) {
      expect(boundsOf(what)).toEqual([share.ofOneNetwork, share.total])
    }
    const ofClient = rows.filter(([what]) => what?.includes(' of clients with a secret'))
    expect(ofClient.map(([, , bound]) => bound)).toEqual(['10,000 per client', '10,000 per client'])
    expect(ofProvenClient.ofOneNetwork).toBe(10_000)
    expect(boundsOf('outgoing requests to addresses of clients')).toEqual([
      MAX_FETCHES_PER_NETWORK,
      MAX_FETCHES,
    ])
    expect(boundsOf('password checks running or waiting')).toEqual([
      queuePolicy.maxPerNetwork,
      queuePolicy.maxRunning,
    ])
  })

  it('states total limits that are at least a thousand times the limits per network (threat Q6)', () => {
    const bounded = rowsBelow('Storage', limits).flatMap(([what, , one = '', total = '']) =>
      /^\d/.test(one) && /^[\d,]+( unused)?$/.test(total)
        ? [{ what, one: Number.parseInt(one, 10), total: Number(total.replace(/\D/g, '')) }]
        : [],
    )
    expect(bounded.length).toBeGreaterThanOrEqual(4)
    for (const { one, total } of bounded) expect(total).toBeGreaterThanOrEqual(1000 * one)
  })
})
