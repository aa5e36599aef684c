import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import { DemoFlows } from './demo-application.tsx'
import { getSignedInUser, requireUser } from './parts/forms.ts'
import { renderPage } from './parts/render.tsx'

const PLACES = [
  { place: 'clients', title: 'places.clients' },
  { place: 'tokens', title: 'tokens.title' },
  { place: 'applications', title: 'applications.title' },
  { place: 'billing', title: 'places.billing' },
  { place: 'admin', title: 'places.admin' },
] as const

export function addHome(app: Hono<AppEnv>): void {
  app.get('/', requireUser(), (c) => {
    const user = getSignedInUser(c)
    const { service, t } = c.get('page')
    const { demo } = service
    const places = PLACES.filter(({ place }) => place !== 'admin' || user.role !== null)
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
            <Tile path={`/${place}`} title={t(title)} text={t(`home.${place}`)} />
          ))}
        </ul>
        {demo?.clients.web && (
          <DemoFlows implicit={c.get('page').service.config.settings.implicitGrant} />
        )}
      </>,
    )
  })
}

const Tile: FC<{ path: string; title: string; text: string }> = ({ path, title, text }) => (
  <li class="card tile">
    <h2>
      <a href={path}>{title}</a>
    </h2>
    <p>{text}</p>
  </li>
)
