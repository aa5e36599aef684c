import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import { listApplications } from './applications.tsx'
import { readAccount } from './billing/model/account.ts'
import { describeCard } from './billing/model/describe-card.ts'
import { describeState, type StateDescription } from './billing/model/describe-state.ts'
import { DemoFlows } from './demo-application.tsx'
import { getSignedInUser, requireUser } from './parts/forms.ts'
import { isPlaceShown } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'

const PLACES = [
  { place: 'clients', title: 'places.clients' },
  { place: 'tokens', title: 'tokens.title' },
  { place: 'applications', title: 'applications.title' },
  { place: 'billing', title: 'places.billing' },
  { place: 'teams', title: 'places.teams' },
  { place: 'admin', title: 'places.admin' },
] as const

type Place = (typeof PLACES)[number]['place']

/** The person's own data that a tile shows. */
interface Present {
  readonly text: string
  readonly badge?: StateDescription
}

/** Adds the home page, which links to the other pages and shows what the person has there. */
export function addHomePage(app: Hono<AppEnv>): void {
  app.get('/', requireUser(), async (c) => {
    const user = getSignedInUser(c)
    const { service, t } = c.get('page')
    const { demo } = service
    const places = PLACES.filter(({ place }) => isPlaceShown(place, c.get('page')))
    const present = await describePresent(c)
    return renderPage(
      c,
      { title: t('home.title') },
      <>
        <div class="heading">
          <div>
            <h1>
              {user.name === null
                ? t('home.welcome')
                : t.parts('home.welcomeName', { name: <bdi>{user.name}</bdi> })}
            </h1>
            <p class="lead">
              {t.parts('home.signedInAs', { email: <strong>{user.email}</strong> })}
            </p>
          </div>
        </div>
        <ul class="tiles">
          {places.map(({ place, title }) => (
            <Tile
              path={`/${place}`}
              title={t(title)}
              text={t(`home.${place}`)}
              present={present[place]}
            />
          ))}
        </ul>
        {demo?.clients.web && (
          <DemoFlows implicit={c.get('page').service.config.settings.implicitGrant} />
        )}
      </>,
    )
  })
}

/** Reads, from our own tables only, what the person has on each page. */
async function describePresent(
  c: Context<AppEnv>,
): Promise<Readonly<Partial<Record<Place, Present>>>> {
  const { service, t } = c.get('page')
  const { id } = getSignedInUser(c)
  const [clients, tokens, applications, billing, teams] = await Promise.all([
    service.oauth.clients.listByUser(id),
    service.oauth.tokens.listByUser(id),
    listApplications(service, id),
    describeSubscription(c),
    service.config.settings.teams === false ? [] : service.teams.listOf(id),
  ])
  const personal = tokens.filter(({ grantType }) => grantType === 'personal_access')
  return {
    clients: { text: t('home.clients.present', { count: clients.length }) },
    tokens: { text: t('home.tokens.present', { count: personal.length }) },
    applications: { text: t('home.applications.present', { count: applications.length }) },
    billing,
    teams: { text: t('home.teams.present', { count: teams.length }) },
  }
}

async function describeSubscription(c: Context<AppEnv>): Promise<Present> {
  const { t } = c.get('page')
  const { billable, running, plan } = await readAccount(c)
  if (!running) return { text: t('home.billing.none') }
  // The provider is not asked: a page that everybody opens first must not wait for it.
  const unasked = { periodEndsAt: null, endReason: null, upcoming: null }
  const state = describeState(running, unasked, describeCard(billable, t) !== null, t)
  return { text: plan?.name ?? state.sentence, badge: state }
}

const Tile: FC<{ path: string; title: string; text: string; present?: Present | undefined }> = ({
  path,
  title,
  text,
  present,
}) => (
  <li class="card tile">
    <h2>
      <a href={path}>{title}</a>
    </h2>
    <p>{text}</p>
    {present && (
      <p class="tile-present">
        {present.text}{' '}
        {present.badge && <span class={`badge ${present.badge.tone}`}>{present.badge.label}</span>}
      </p>
    )}
  </li>
)
