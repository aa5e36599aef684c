import { afterEach, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  type ConsentView,
  createAuthorizationServer,
  deviceCode,
  memoryStorage,
  openid,
  type PageMessages,
} from '../src/index.ts'
import { REDIRECT, SECRET } from './support.ts'

const ISSUER = 'https://api.example.com'
const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

interface Settings {
  readonly messages?: Readonly<Record<string, PageMessages>>
  readonly consent?: (view: ConsentView) => string
}

async function start({ messages, consent }: Settings = {}) {
  const oauth = createAuthorizationServer({
    issuer: ISSUER,
    secret: SECRET,
    storage: memoryStorage(),
    users: {
      findById: (id) => ({ id }),
      fromRequest: () => ({ id: 'ada', sessionId: '1', authenticatedAt: new Date() }),
      claims: () => ({}),
    },
    scopes: { orders: 'Place orders', email: 'Your address' },
    grants: [authorizationCode(), deviceCode()],
    features: [openid({ logout: true })],
    ...(messages && { messages }),
    ...(consent && { pages: { consent } }),
  })
  open.push(oauth)
  const { client } = await oauth.clients.create({
    name: 'Shop',
    redirect: REDIRECT,
    confidential: true,
  })
  const show = async (path: string, languages?: string) => {
    const headers = languages === undefined ? {} : { 'accept-language': languages }
    return (await oauth.fetch(new Request(`${ISSUER}${path}`, { headers }))).text()
  }
  const query = `client_id=${client.id}&response_type=code&scope=openid+profile+email+orders&redirect_uri=${encodeURIComponent(REDIRECT)}`
  return { show, consent: `/oauth/authorize?${query}` }
}

describe('the language of the default pages', () => {
  it('is English if the request names no language', async () => {
    const { show, consent } = await start()
    const html = await show(consent)
    expect(html).toContain('<html lang="en">')
    expect(html).toContain('<bdi>Shop</bdi> asks for access to your account')
  })

  it("is German for ui_locales=de, regardless of the browser's languages", async () => {
    const { show, consent } = await start()
    const html = await show(`${consent}&ui_locales=de-AT`, 'en')
    expect(html).toContain('<html lang="de">')
    expect(html).toContain('<bdi>Shop</bdi> bittet um Zugriff auf Ihr Konto')
    expect(html).toContain('Ihren Namen und Ihr Profil sehen')
    // The application describes the scope in its own language.
    expect(html).toContain('Your address')
    expect(html).toContain('Place orders')
    // The forms keep the language.
    expect(html).toContain('ui_locales=de-AT')
  })

  it.each([
    ['/oauth/device', 'Geben Sie den Code ein'],
    ['/oauth/logout', 'Abmelden?'],
    ['/oauth/authorize?client_id=nobody', 'Diese Anfrage kann nicht abgeschlossen werden'],
  ])('is German on %s for a German browser', async (path, text) => {
    const { show } = await start()
    const html = await show(path, 'de-DE,de;q=0.9,en;q=0.8')
    expect(html).toContain('<html lang="de">')
    expect(html).toContain(text)
  })

  it('is marked as English, in the HTML, for messages to developers', async () => {
    const { show } = await start()
    const html = await show('/oauth/authorize?client_id=nobody&ui_locales=de')
    expect(html).toContain('<p lang="en">No application is registered with this client_id.</p>')
  })

  it.each<[string, string?]>([
    ['fr, xx-klingon;q=0.9'],
    ['*'],
    [';;;q=,,'],
    ['\u00ff\u00fe'],
    ['<script>alert(1)</script>'],
    ['5000 times de', `${'de,'.repeat(5000)}de`],
  ])('is English for the Accept-Language header %s', async (header, languages = header) => {
    const { show, consent } = await start()
    expect(await show(consent, languages)).toContain('<html lang="en">')
  })

  it('is English if ui_locales is not a list of languages', async () => {
    const { show, consent } = await start()
    const html = await show(`${consent}&ui_locales=${encodeURIComponent('"><script> __proto__')}`)
    expect(html).toContain('<html lang="en">')
    expect(html).not.toContain('"><script>')
  })
})

describe('the `messages` option', () => {
  const messages = {
    fr: { 'approve.button': 'Autoriser', 'scope.orders': 'Passer des commandes' },
    de: { 'approve.button': 'Zulassen' },
    ar: {},
  }

  it('adds a language, in which missing texts stay English', async () => {
    const { show, consent } = await start({ messages })
    const html = await show(consent, 'fr-CA')
    expect(html).toContain('<html lang="fr">')
    expect(html).toContain('>Autoriser</button>')
    expect(html).toContain('Passer des commandes')
    expect(html).toContain('>Deny</button>')
  })

  it('replaces texts of a built-in language', async () => {
    const { show, consent } = await start({ messages })
    const html = await show(consent, 'de')
    expect(html).toContain('>Zulassen</button>')
    expect(html).toContain('>Ablehnen</button>')
  })

  it('sets the text direction of right-to-left scripts', async () => {
    const { show, consent } = await start({ messages })
    expect(await show(consent, 'ar')).toContain('<html lang="ar" dir="rtl">')
  })

  it('rejects invalid language tags, and texts that no page has', async () => {
    await expect(start({ messages: { 'not a tag': {} } })).rejects.toThrow(
      `messages: "not a tag" is no language. Write 'fr' or 'pt-BR', for example.`,
    )
    const misspelt = { 'aprove.button': 'OK' } as PageMessages
    await expect(start({ messages: { en: misspelt } })).rejects.toThrow(
      "messages: there is no text 'aprove.button' on the default pages.",
    )
  })

  it('passes the chosen language, and all languages that the request names, to custom pages', async () => {
    const pages = { consent: (view: ConsentView) => `${view.language}: ${view.locales}` }
    const { show, consent } = await start(pages)
    expect(await show(`${consent}&ui_locales=fr+de`, 'en, it')).toBe('de: fr,de,en,it')
  })
})
