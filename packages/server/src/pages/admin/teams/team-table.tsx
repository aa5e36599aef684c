import type { FC } from 'hono/jsx'
import type { TeamJson } from '../../../admin/operations/teams.ts'
import { usePage } from '../../parts/layout.tsx'
import { Day, Table } from '../../parts/table.tsx'
import { describeProvider } from '../billing/describe-provider.ts'

/** A table of teams, with links to their pages. */
export const TeamTable: FC<{ teams: readonly TeamJson[] }> = ({ teams }) => {
  const { t } = usePage()
  return (
    <Table
      caption={t('admin.teams')}
      columns={[
        t('adminTeams.team'),
        t('adminTeams.mailTo'),
        t('people.customerAt'),
        t('accounts.created'),
      ]}
      rows={teams.map((team) => [
        <a href={`/admin/teams/${encodeURIComponent(team.id)}`}>
          <bdi>{team.name}</bdi>
        </a>,
        <bdi>{team.email}</bdi>,
        team.provider === null ? (
          <span class="quiet-text">{t('table.none')}</span>
        ) : (
          describeProvider(team.provider)
        ),
        <Day at={new Date(team.created_at)} />,
      ])}
    />
  )
}
