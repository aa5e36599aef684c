import type { Role } from '../../src/users/roles.ts'
import type { TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

/** Fields of a form, by name. */
export type Fields = Readonly<Record<string, string | readonly string[]>>

/** A page as an operator without a script sees it. */
export interface SeenPage {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** Target of a redirect. */
  readonly location: string | null
}

/** Opens pages and sends their forms as an operator, like a browser without a script. */
export async function operatorWithForms(service: TestService, role: Role | null) {
  const { id, email, browser, call } = await createOperatorHelpers(service).operator(role)
  const see = async (response: Response): Promise<SeenPage> => ({
    status: response.status,
    headers: response.headers,
    html: await response.text(),
    location: response.headers.get('location'),
  })
  const open = async (path: string) => see(await browser.get(path))
  const post = async (path: string, fields: Fields) => {
    const body = new URLSearchParams()
    for (const [name, values] of Object.entries(fields)) {
      for (const value of [values].flat()) body.append(name, value)
    }
    const headers = { origin: service.url }
    return see(await browser.request(path, { method: 'POST', headers, body }))
  }
  return {
    id,
    email,
    browser,
    call,
    open,
    post,
    /** Sends a form of a page that was opened before, with its hidden fields. */
    send: (page: SeenPage, action: string, fields: Fields = {}) =>
      post(action, { ...hiddenFields(page.html, action), ...fields }),
    /** Opens a page and sends the form that posts to the same address. */
    async submit(path: string, fields: Fields = {}) {
      const page = await open(path)
      return post(path, { ...hiddenFields(page.html, path), ...fields })
    },
  }
}

/** The hidden fields of the form with this action. */
export function hiddenFields(html: string, action: string): Record<string, string> {
  const forms = html.match(/<form[^>]*>[\s\S]*?<\/form>/g) ?? []
  const form = forms.find((each) => each.includes(`action="${action}"`))
  if (!form) throw new Error(`There is no form for ${action}`)
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  return Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, decode(value)]))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
}

const decode = (text: string) =>
  text.replace(/&(?:quot|#39|lt|gt|amp);/g, (it) => ENTITIES[it] ?? it)
