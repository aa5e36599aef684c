import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleInAllLooks,
  expectNoSidewaysScroll,
} from '../../../../test-support/chromium.ts'

const BAD_PAGE = `<!doctype html><html lang="en"><title>Bad</title><link rel="icon" href="data:,">
<main><h1>Bad</h1><img src="/x.png"><canvas width="3000"></canvas><script>document.title = 'breached'</script></main></html>`

const dark = (
  css: string,
) => `<!doctype html><html lang="en"><title>Fine by day</title><link rel="icon" href="data:,">
<style>body { background: #fff; color: #000 } @media (prefers-color-scheme: dark) { ${css} }</style>
<main><h1>Fine by day</h1><p>Read this</p></main></html>`

describeInChromium('the test support for Chromium', ({ newPage, forgive, complaints }) => {
  const server = createServer((request, response) => {
    response.setHeader('content-security-policy', "default-src 'self'; img-src 'self' data:")
    response.setHeader('content-type', 'text/html')
    response.statusCode = request.url === '/' ? 200 : 404
    response.end(request.url === '/' ? BAD_PAGE : '')
  })
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  it('detects policy violations, missing files, accessibility problems and overflow', async () => {
    const page = await newPage()
    forgive(page, /./)
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    expect(await page.title()).toBe('Bad')
    await expect(expectAccessible(page)).rejects.toThrow('image-alt')
    await expect(expectNoSidewaysScroll(page)).rejects.toThrow('the width of')
    const texts = complaints(page).join('\n')
    expect(texts).toMatch(/content security policy/i)
    expect(texts).toMatch(/status of 404.*x\.png/)
  })

  it.each([
    ['text with too little contrast', 'p { color: #eee }', 'color-contrast'],
    ['something that is missing', 'p { display: none }', 'what the dark page says'],
  ])('detects %s that occurs only in the dark color scheme', async (_name, css, problem) => {
    const page = await newPage()
    await page.setContent(dark(css))
    await expectAccessible(page)
    await expect(expectAccessibleInAllLooks(page, 'dark')).rejects.toThrow(problem)
  })
})
