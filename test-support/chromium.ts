import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { afterAll, afterEach, describe, expect } from 'vitest'
import { findChromium } from './find-chromium.ts'

export type Scheme = 'light' | 'dark'

const SCHEMES: readonly Scheme[] = ['light', 'dark']
export const DESKTOP = { width: 1280, height: 800 }
/** As narrow as those that people have. */
export const PHONE = { width: 360, height: 740 }

export interface PageSettings {
  readonly scheme?: Scheme
  readonly viewport?: { readonly width: number; readonly height: number }
  /** False: as somebody whose browser runs no script. */
  readonly script?: boolean
  /** A context of another page, to share its cookies; otherwise a browser nobody has used. */
  readonly context?: BrowserContext
  /**
   * The tab that tests of this file have used before, emptied of pages, cookies and listeners: it costs a quarter of a new one. For
   * those who only look, because what scripts have stored may still be there.
   */
  readonly again?: boolean
  /** Of somebody signed in elsewhere; `url` says for which host. */
  readonly cookies?: { readonly url: string; readonly values: ReadonlyMap<string, string> }
}

export interface Chromium {
  /** A new tab. Whatever its console complains about fails the test, see `forgive`. */
  newPage(settings?: PageSettings): Promise<Page>
  /** The complaints of this page that match are meant to happen in this test. */
  forgive(page: Page, pattern: RegExp): void
  /** What its console has complained about so far. */
  complaints(page: Page): readonly string[]
}

/**
 * Tests in a real Chromium, each with a context of its own; skipped where there is none, which the run says at
 * its start. No console error and no breach of the content security policy goes unnoticed.
 * @example
 * describeInChromium('the first page', ({ newPage }) => {
 *   it('greets', async () => {
 *     const page = await newPage({ scheme: 'dark' })
 *     await page.goto(service.url)
 *     await expectAccessible(page)
 *   })
 * })
 */
export function describeInChromium(name: string, define: (chromium: Chromium) => void): void {
  const executablePath = findChromium()
  describe.skipIf(executablePath === null)(name, () => {
    const opened = new Map<Page, { complaints: string[]; forgiven: RegExp[] }>()
    let kept: Page | undefined

    afterEach(async () => {
      const left = [...opened.values()].flatMap(({ complaints, forgiven }) =>
        complaints.filter((text) => !forgiven.some((pattern) => pattern.test(text))),
      )
      const contexts = new Set([...opened.keys()].map((page) => page.context()))
      if (kept) contexts.delete(kept.context())
      opened.clear()
      await Promise.all([...contexts].map((context) => context.close()))
      expect(left, 'what the console complained about').toEqual([])
    })
    afterAll(() => kept?.context().close())

    async function openPage(settings: PageSettings): Promise<Page> {
      const context =
        settings.context ??
        (await newContext(executablePath, {
          colorScheme: settings.scheme ?? 'light',
          viewport: settings.viewport ?? DESKTOP,
          javaScriptEnabled: settings.script ?? true,
          reducedMotion: 'reduce',
        }))
      const page = await context.newPage()
      listen(page, (complaint) => opened.get(page)?.complaints.push(complaint))
      return page
    }

    async function openAgain(settings: PageSettings): Promise<Page> {
      if (!kept || kept.isClosed()) kept = await withoutCache(await openPage(settings))
      else await empty(kept, settings)
      return kept
    }

    define({
      async newPage(settings = {}) {
        const page = await (settings.again ? openAgain(settings) : openPage(settings))
        opened.set(page, { complaints: [], forgiven: [] })
        const { cookies } = settings
        if (cookies) {
          const values = [...cookies.values]
          await page
            .context()
            .addCookies(values.map(([name, value]) => ({ name, value, url: cookies.url })))
        }
        return page
      },
      forgive(page, pattern) {
        opened.get(page)?.forgiven.push(pattern)
      },
      complaints: (page) => opened.get(page)?.complaints ?? [],
    })
  })
}

const OF_TESTS = [
  'request',
  'response',
  'requestfailed',
  'requestfinished',
  'dialog',
  'download',
  'popup',
]

/** Ours stay: those to the console and to errors. */
async function empty(page: Page, { scheme, viewport }: PageSettings): Promise<void> {
  for (const event of OF_TESTS) page.removeAllListeners(event)
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.setViewportSize(viewport ?? DESKTOP)
  await page.emulateMedia({ colorScheme: scheme ?? 'light' })
}

/** So that a page loads all it needs each time. */
async function withoutCache(page: Page): Promise<Page> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  return page
}

/**
 * Chromium's own suggestions below the address bar are two pages for each window, in processes of their own: a second of work.
 * A switch that is given twice counts once, so what Playwright switches off is here as well.
 */
const SWITCHED_OFF = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

let launched: Promise<Browser> | undefined

/** In the one browser of all files of this process, which ends with it. */
async function newContext(
  executablePath: string | null,
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  launched ??= chromium.launch({
    executablePath: executablePath ?? '',
    args: [`--disable-features=${SWITCHED_OFF.join()}`],
  })
  const browser = await launched
  if (browser.isConnected()) return browser.newContext(options)
  launched = undefined
  return newContext(executablePath, options)
}

/** Chromium reports breaches of the policy to the console, as it does failing requests and scripts. */
function listen(page: Page, complain: (text: string) => void): void {
  page.on('console', (message) => {
    if (message.type() !== 'error' && !/content security policy/i.test(message.text())) return
    complain(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => complain(String(error)))
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

/** The rules that can tell one scheme from the other, as long as a scheme is nothing but colours. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** No rule of axe is broken, whether of WCAG or of good practice. */
export async function expectAccessible(page: Page, only?: readonly string[]): Promise<void> {
  // The debugger's own evaluation is not bound by the policy, so that the policy stays in force.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource)
  // To describe every node that is well, and to send that, takes three times as long as to look at them.
  const options = {
    resultTypes: ['violations'],
    // Style sheets are read for a rule that is an experiment, and so switched off.
    preload: { assets: ['media'] },
    ...(only ? { runOnly: only } : {}),
  }
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  const texts = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map((node) => node.html).join('\n')}`,
  )
  expect(texts.join('\n'), `axe at ${page.url()}`).toBe('')
}

/** Clicks a button that has its own window closed, which may be gone before the browser has acknowledged the click. */
export async function clickToClose(window: Page, button: Locator): Promise<void> {
  const clicked = button.click().catch((error: Error) => {
    if (!error.message.includes('has been closed')) throw error
  })
  await Promise.all([window.waitForEvent('close'), clicked])
}

/** Nothing is wider than the window: nobody has to scroll sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return { scrollWidth, clientWidth }
  })
  expect(scrollWidth, `the width of ${page.url()}`).toBeLessThanOrEqual(clientWidth)
}

/**
 * On a desk and in a hand, in light and in dark: the page is the same, only the window changes. What is light is tried with all
 * rules, and what is dark with those of colours, because it says the same.
 */
export async function expectFineInEveryLook(page: Page, name: string): Promise<void> {
  for (const [device, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    await page.setViewportSize(viewport)
    const said: string[] = []
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      await takeScreenshot(page, `${name}-${device}-${colorScheme}`)
      await expectAccessible(page, colorScheme === 'dark' ? OF_COLOURS : undefined)
      await expectNoSidewaysScroll(page)
      // biome-ignore lint/performance/useDomNodeTextContent: what is not shown is not said
      said.push(await page.locator('body').innerText())
    }
    expect(said[1], 'what the dark page says').toBe(said[0])
  }
}

/** A picture to look at, for those who name a folder for it. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.TEST_SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
