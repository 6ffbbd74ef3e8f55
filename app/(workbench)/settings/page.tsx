import { GitCredentialsSection } from "@/components/account/git-credentials-section"
import { PasswordSection } from "@/components/account/password-section"
import { ProviderSection } from "@/components/account/provider-section"
import { SignInsSection } from "@/components/account/sign-ins-section"
import { ThemeSection } from "@/components/account/theme-section"
import { TokensSection } from "@/components/account/tokens-section"
import { PhoneBar } from "@/components/frame/phone-bar"
import { Page } from "@/components/ui/page"

export default function SettingsPage() {
  return (
    <Page title="Settings" top={<PhoneBar />}>
      <ThemeSection />
      <PasswordSection />
      <SignInsSection />
      <ProviderSection />
      <TokensSection />
      <GitCredentialsSection />
    </Page>
  )
}
