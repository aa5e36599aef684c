import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { extractPdfText } from '../../billing/test/read-pdf.ts'
import { readEnvironment } from '../src/config/environment.ts'
import { getSeller } from '../src/config/seller.ts'
import { parseSettings, type SettingsInput } from '../src/config/settings.ts'
import { EXAMPLE_MAILS } from '../src/mail/catalogue.ts'
import { getBrand } from '../src/pages/parts/brand.ts'
import { startTestService, type TestService } from './support.ts'

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20"/></svg>'
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-brand-'))
  writeFileSync(join(folder, 'logo.svg'), SVG)
  writeFileSync(join(folder, 'icon.png'), PIXEL)
  writeFileSync(join(folder, 'large.png'), Buffer.alloc(300 * 1024))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const LOOK = {
  name: 'Acme Gate',
  vendor: 'Acme Ltd',
  vendorAddress: ['1 Main Street', 'London'],
  support: 'help@acme.example',
  accentColor: '#0b6b3a',
}

describe('a service with its own brand', () => {
  let service: TestService
  beforeAll(async () => {
    const files = { logo: join(folder, 'logo.svg'), favicon: join(folder, 'icon.png') }
    service = await startTestService({ settings: { ...LOOK, ...files } })
  })
  afterAll(() => service.stop())

  it.each(['/login', '/register', '/oauth/authorize?client_id=unknown'])(
    'shows name, logo, icon, colors, vendor and contact at %s, and loads nothing from elsewhere',
    async (path) => {
      const response = await service.browser().get(path)
      const html = await response.text()
      for (const text of ['Acme Gate', 'Acme Ltd · 1 Main Street · London', 'help@acme.example']) {
        expect(html).toContain(text)
      }
      expect(response.headers.get('content-security-policy')).toContain("img-src 'self'")
      const urls = [...html.matchAll(/(?:src|href)="(\/assets\/(?:logo|favicon|brand)-[^"]+)"/g)]
      expect(urls.map(([, url]) => url?.replace(/-\w+\./, '.'))).toEqual([
        '/assets/favicon.png',
        '/assets/brand.css',
        '/assets/logo.svg',
      ])
      for (const [, url] of urls) {
        const file = await service.browser().get(url ?? '')
        expect(file.status).toBe(200)
        expect(file.headers.get('content-security-policy')).toContain('sandbox')
        expect(file.headers.get('cache-control')).toContain('immutable')
      }
      const css = await (await service.browser().get(urls[1]?.[1] ?? '')).text()
      expect(css).toContain('--accent: #0b6b3a')
      expect(css).toContain('prefers-color-scheme: dark')
    },
  )

  it('prints the vendor, the address, the contact and the charged card on invoices', async () => {
    const { id } = await service.users.create({ email: 'ada@example.com', password: 'long enough' })
    const billable = await service.billing.user(Number(id))
    await billable.newSubscription('main', 'pro').create('pm_card_visa')
    const browser = service.browser()
    await browser.signIn('ada@example.com', 'long enough')
    const [invoice] = await billable.invoices()
    const pdf = await browser.get(`/user/invoice/${invoice?.id}`)
    const text = extractPdfText(new Uint8Array(await pdf.arrayBuffer()))
    const card = 'Paid with Visa •••• 4242'
    for (const line of ['Acme Ltd', '1 Main Street', 'London', 'help@acme.example', card]) {
      expect(text).toContain(line)
    }
  })

  it.each([...EXAMPLE_MAILS.keys()])(
    'names the vendor, the address and the contact in mail: %s',
    (kind) => {
      const { config, billing, url } = { ...service, config: parseSettings(LOOK) }
      const mail = EXAMPLE_MAILS.get(kind)?.('en', { settings: config, billing, url })
      for (const body of [mail?.text, mail?.html]) {
        for (const line of ['Acme Ltd', '1 Main Street', 'London', 'help@acme.example']) {
          expect(body).toContain(line)
        }
      }
    },
  )
})

describe('the settings of the brand', () => {
  it.each<[string, SettingsInput, RegExp]>([
    [
      'accentColor',
      { accentColor: '#ffcc00' },
      /contrast of 1\.\d:1 on the light pages.*readable: #/,
    ],
    ['accentColorDark', { accentColorDark: '#2f5bd7' }, /on the dark pages/],
    ['accentColor', { accentColor: 'blue' }, /such as #2f5bd7/],
    ['vendorAddress', { vendorAddress: Array(9).fill('x') }, /8 lines/],
  ])('%s rejects %j, and says what would be accepted', (name, settings, words) => {
    expect(() => parseSettings(settings)).toThrow(new RegExp(`${name}[^]*${words.source}`))
  })

  it.each(['missing.png', 'large.png', 'logo.bmp'])('logo rejects the file %s', (file) => {
    const path = join(folder, file)
    expect(() => getBrand(parseSettings({ logo: path }))).toThrow(
      /logo: .*(cannot be read|bytes|must end)/,
    )
  })

  it('can be set by environment variables, where semicolons separate the lines of the address', () => {
    const { settings } = readEnvironment(
      {
        TOLLGATE_VENDOR: 'Acme Ltd',
        TOLLGATE_VENDOR_ADDRESS: '1 Main Street; London, UK;',
        TOLLGATE_ACCENT_COLOR: '#0b6b3a',
      },
      { settings: parseSettings({}), needs: [] },
    )
    expect(settings.vendorAddress).toEqual(['1 Main Street', 'London, UK'])
    expect(settings.accentColor).toBe('#0b6b3a')
  })

  it('leave the foot of pages empty by default, and invoices get the name of the service', () => {
    const settings = parseSettings({ name: 'Acme Gate' })
    expect(getBrand(settings)).toMatchObject({ vendor: [], styleUrl: null })
    expect(getSeller(settings)).toEqual({ vendor: 'Acme Gate', product: 'Subscription' })
    const invoice = { vendor: 'Acme Billing Ltd', product: 'Gold', vendorDetails: ['VAT 1'] }
    expect(getSeller(parseSettings({ ...LOOK, invoice }))).toEqual(invoice)
  })
})
