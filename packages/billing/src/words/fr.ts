import type { Words } from './words.ts'

/** French. */
export const fr: Words = {
  invoice: {
    invoice: 'Facture',
    receipt: 'Reçu',
    number: 'Numéro',
    date: 'Date',
    billedTo: 'Facturé à',
    description: 'Description',
    period: 'Période',
    amount: 'Montant',
    subtotal: 'Sous-total',
    discount: 'Remise',
    tax: 'Taxe',
    included: 'incluse',
    total: 'Total',
    paidFromCredit: 'Payé par avoir',
    balanceFromBefore: 'Solde antérieur',
    amountPaid: 'Montant payé',
    amountDue: 'Montant à payer',
    page: 'page {page} sur {pages}',
    creditNote: 'Avoir',
    forInvoice: 'Sur la facture',
    refunded: 'Remboursé',
    toBalance: 'Ajouté à votre crédit',
    outside: 'Réglé autrement',
    taxId: 'Numéro fiscal',
    reverseCharge: 'Autoliquidation',
  },
  mail: {
    greeting: 'Bonjour {name},',
    hello: 'Bonjour,',
    closing: 'Cordialement',
    receipt: {
      subject: 'Votre reçu de {vendor}',
      text: 'Nous avons bien reçu votre paiement de {amount} pour {product}. Merci.',
    },
    payment_failed: {
      subject: 'Votre paiement à {vendor} a échoué',
      text: 'Nous n’avons pas pu prélever {amount} pour {product}.',
    },
    action_required: {
      subject: 'Confirmez votre paiement à {vendor}',
      text: 'Votre banque vous demande de confirmer le paiement de {amount} pour {product}. Il n’est pas terminé avant cela.',
    },
    trial_ending: {
      subject: 'Votre essai de {product} se termine le {date}',
      text: 'Votre essai de {product} se termine le {date}.',
    },
    card_expiring: {
      subject: 'Votre carte expire bientôt',
      text: 'Votre carte {card} expire fin {month}. Merci d’en indiquer une autre d’ici là pour que vos paiements pour {product} continuent.',
    },
    refunded: {
      subject: 'Votre remboursement de {vendor}',
      text: 'Nous vous avons remboursé {amount}. Quelques jours peuvent passer avant que la somme apparaisse sur votre compte.',
    },
    triedAgain: 'Nous réessaierons le {date}. Merci de vérifier d’ici là votre moyen de paiement.',
    lastAttempt:
      'Merci d’indiquer un autre moyen de paiement pour que votre abonnement puisse continuer.',
    subscriptionFollows:
      'Sauf résiliation avant cette date, votre abonnement continue et sera facturé.',
    noSubscription: 'Pour continuer à l’utiliser, abonnez-vous.',
    changeMethod: 'Modifier le moyen de paiement',
    confirm: 'Confirmer le paiement',
    manage: 'Gérer l’abonnement',
  },
}
