import { raw } from 'hono/html'
import { type Child, createContext, type FC, type JSX, useContext } from 'hono/jsx'
import type { PageContext } from '../../http/variables.ts'
import type { PageText } from '../../messages/messages.ts'
import { assetUrl } from './assets.ts'
import { type Brand, getBrand, toContactUrl } from './brand.ts'
import { pageScriptTexts } from './script-texts.ts'

const Page = createContext<PageContext | null>(null)

/** Returns the context of the page, for use in its components. */
export function usePage(): PageContext {
  const page = useContext(Page)
  if (!page) throw new Error('usePage() only works inside renderPage()')
  return page
}

/** The frame of every page: navigation and the signed-in user. */
export const Layout: FC<{ title: string; page: PageContext; children?: Child }> = (props) => {
  const { title, page, children } = props
  return (
    <Page.Provider value={page}>
      <Document
        title={title}
        brand={getBrand(page.service.config.settings)}
        t={page.t}
        csrfToken={page.csrfToken}
        header={page.user && [<Navigation />, <Account />]}
      >
        <p id="status" class="status" role="status" />
        {children}
      </Document>
    </Page.Provider>
  )
}

const PLACES = ['clients', 'tokens', 'applications', 'billing', 'teams', 'admin'] as const

/** Whether a link of the navigation is shown. */
export function isPlaceShown(
  place: (typeof PLACES)[number],
  { service, user }: Pick<PageContext, 'service' | 'user'>,
): boolean {
  if (place === 'teams') return service.config.settings.teams !== false
  return place !== 'admin' || (user?.role ?? null) !== null
}

const Navigation: FC = () => {
  const page = usePage()
  return (
    <nav class="places" aria-label={page.t('layout.main')}>
      <ul>
        {PLACES.filter((place) => isPlaceShown(place, page)).map((place) => (
          <li>
            <a href={`/${place}`} aria-current={getAriaCurrent(page.path, `/${place}`)}>
              {page.t(`places.${place}`)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/**
 * Value of `aria-current` for a link in the navigation. Subpages and failed forms belong to the
 * place above them.
 */
function getAriaCurrent(path: string, place: string): 'page' | 'true' | undefined {
  if (path === place) return 'page'
  return path.startsWith(`${place}/`) ? 'true' : undefined
}

const Account: FC = () => {
  const { user, t } = usePage()
  return (
    <CsrfForm class="account" action="/logout">
      <a class="who" href="/account">
        <bdi>{user?.name ?? user?.email}</bdi>
      </a>
      <button class="small" type="submit">
        {t('layout.signOut')}
      </button>
    </CsrfForm>
  )
}

/** A form for a signed-in person, with the CSRF token in a hidden field. */
export const CsrfForm: FC<JSX.IntrinsicElements['form']> = ({ children, ...form }) => (
  <form method="post" {...form}>
    <input type="hidden" name="csrf_token" value={usePage().csrfToken ?? ''} />
    {children}
  </form>
)

/** A form of the billing pages. `action` is the path below the billing page of the payer. */
export const BillingForm: FC<JSX.IntrinsicElements['form'] & { action: string }> = ({
  action,
  ...form
}) => <CsrfForm action={`${usePage().payer.path}${action}`} {...form} />

interface DocumentProps {
  readonly t: PageText
  readonly title: string
  /** Name, logo and colors of the service. */
  readonly brand: Brand
  /** The CSRF token. `null` if signed out. */
  readonly csrfToken?: string | null
  /**
   * Whether the page loads the script. Set it to `false` if the page's policy allows none.
   * @default true
   */
  readonly script?: boolean
  /** Content of the header, beside the name. */
  readonly header?: Child
  readonly children?: Child
}

/** A complete HTML document, used by the pages of the service and of the authorization server. */
export const Document: FC<DocumentProps> = ({ brand, ...props }) => (
  <>
    {raw('<!doctype html>')}
    <html lang={props.t.language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {props.csrfToken && <meta name="csrf-token" content={props.csrfToken} />}
        {props.script !== false && <meta name="script-texts" content={pageScriptTexts(props.t)} />}
        <title>{`${props.title} · ${brand.name}`}</title>
        <link rel="icon" href={brand.icon.url} type={brand.icon.type} />
        <link rel="stylesheet" href={assetUrl('style.css')} />
        {brand.styleUrl && <link rel="stylesheet" href={brand.styleUrl} />}
        {props.script !== false && <script type="module" src={assetUrl('app.js')} />}
      </head>
      <body>
        <a class="skip" href="#main">
          {props.t('layout.skip')}
        </a>
        <header class="bar">
          <a class="brand" href="/">
            <img src={brand.logoUrl} alt="" height="28" />
            <span>{brand.name}</span>
          </a>
          {props.header}
        </header>
        <main id="main" tabindex={-1}>
          {props.children}
        </main>
        <Foot brand={brand} t={props.t} />
      </body>
    </html>
  </>
)

/** The vendor and the contact at the foot of every page. Renders nothing if neither is set. */
const Foot: FC<{ brand: Brand; t: PageText }> = ({ brand: { vendor, support }, t }) => {
  if (vendor.length === 0) return null
  return (
    <footer class="foot">
      <p>{vendor.join(' · ')}</p>
      {support !== null && (
        <p>
          {t.parts('layout.support', { contact: <a href={toContactUrl(support)}>{support}</a> })}
        </p>
      )}
    </footer>
  )
}

/** Wrapper of pages with billing forms, which adds their stylesheet and script. */
export const BillingFrame: FC<{ children?: Child }> = ({ children }) => (
  <div
    class="billing"
    data-missing-script={usePage().t('cardScript.missing')}
    data-billing={usePage().payer.path}
  >
    {children}
    <script type="module" src={assetUrl('billing.js')} />
  </div>
)

/** Heading of a page: title, purpose and actions. */
export const Heading: FC<{ title: Child; lead: Child; children?: Child }> = (props) => (
  <div class="heading">
    <div>
      <h1>{props.title}</h1>
      <p class="lead">{props.lead}</p>
    </div>
    {props.children}
  </div>
)

/** A notice of success or failure. Renders nothing without a text. */
export const Note: FC<{
  tone: 'good' | 'bad'
  role?: 'status' | 'alert'
  text: string | null | undefined
}> = ({ tone, role = 'status', text }) =>
  text ? (
    <p class={`note ${tone}`} role={role}>
      {text}
    </p>
  ) : null
