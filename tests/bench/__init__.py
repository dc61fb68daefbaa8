"""The pages of the bench and of the campaigns, and the plots."""
